
####### Expanded from @PACKAGE_INIT@ by configure_package_config_file() #######
####### Any changes to this file will be overwritten by the next CMake run ####
####### The input file was warpfold-config.cmake.in                            ########

get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../" ABSOLUTE)

macro(set_and_check _var _file)
  set(${_var} "${_file}")
  if(NOT EXISTS "${_file}")
    message(FATAL_ERROR "File or directory ${_file} referenced by variable ${_var} does not exist !")
  endif()
endmacro()

macro(check_required_components _NAME)
  foreach(comp ${${_NAME}_FIND_COMPONENTS})
    if(NOT ${_NAME}_${comp}_FOUND)
      if(${_NAME}_FIND_REQUIRED_${comp})
        set(${_NAME}_FOUND FALSE)
      endif()
    endif()
  endforeach()
endmacro()

####################################################################################

include(CMakeFindDependencyMacro)
enable_language(C)
find_dependency(MPI COMPONENTS C)
set(HDF5_PREFER_PARALLEL FALSE)
find_dependency(HDF5 COMPONENTS C)
find_dependency(Threads)
find_dependency(PkgConfig)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
foreach(compressor PkgConfig::libdeflate;PkgConfig::liblz4;PkgConfig::libzstd;lzf::lzf)
  if(compressor MATCHES "^PkgConfig::(.*)$")
    pkg_check_modules(${CMAKE_MATCH_1} REQUIRED IMPORTED_TARGET ${CMAKE_MATCH_1})
  else()
    list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
    find_dependency(lzf)
  endif()
endforeach()
if(TRUE)
  find_dependency(CUDAToolkit)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/warpfold-targets.cmake)
check_required_components(warpfold)
