# liblzf, which brings neither pkg-config nor CMake files: the target lzf::lzf.

include(FindPackageHandleStandardArgs)
find_path(LZF_INCLUDE_DIR lzf.h PATH_SUFFIXES liblzf)
find_library(LZF_LIBRARY lzf)
mark_as_advanced(LZF_INCLUDE_DIR LZF_LIBRARY)
find_package_handle_standard_args(lzf REQUIRED_VARS LZF_LIBRARY LZF_INCLUDE_DIR)
if(lzf_FOUND AND NOT TARGET lzf::lzf)
  add_library(lzf::lzf UNKNOWN IMPORTED)
  set_target_properties(lzf::lzf PROPERTIES IMPORTED_LOCATION ${LZF_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "$<$<COMPILE_LANGUAGE:C,CXX>:${LZF_INCLUDE_DIR}>")
endif()
