#----------------------------------------------------------------
# Generated CMake target import file for configuration "Release".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "warpfold::warpfold" for configuration "Release"
set_property(TARGET warpfold::warpfold APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(warpfold::warpfold PROPERTIES
  IMPORTED_LINK_INTERFACE_LANGUAGES_RELEASE "CUDA;CXX"
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libwarpfold.a"
  )

list(APPEND _cmake_import_check_targets warpfold::warpfold )
list(APPEND _cmake_import_check_files_for_warpfold::warpfold "${_IMPORT_PREFIX}/lib/libwarpfold.a" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
