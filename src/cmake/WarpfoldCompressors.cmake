# The libraries that undo a dataset's filters. Sets warpfold_compressors to their targets,
# warpfold_compressor_files to libraries that pkg-config does not know, warpfold_compressor_includes
# to their headers' folders, and
# warpfold_compressor_definitions to what the sources ask for. libdeflate is needed; of the others
# what is found is used.

find_package(PkgConfig REQUIRED)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
set(warpfold_compressors PkgConfig::libdeflate)
set(warpfold_compressor_definitions)
foreach(compressor LZ4:liblz4 ZSTD:libzstd BLOSC:blosc BLOSC2:blosc2)
  string(REGEX MATCH "^([A-Z0-9]+):(.*)$" _ ${compressor})
  set(definition WARPFOLD_${CMAKE_MATCH_1})
  set(module ${CMAKE_MATCH_2})
  pkg_check_modules(${module} IMPORTED_TARGET ${module})
  if(TARGET PkgConfig::${module})
    list(APPEND warpfold_compressors PkgConfig::${module})
    list(APPEND warpfold_compressor_definitions ${definition})
  endif()
endforeach()

set(warpfold_compressor_files)
set(warpfold_compressor_includes)
find_path(AEC_INCLUDE_DIR libaec.h)
find_library(AEC_LIBRARY aec)
mark_as_advanced(AEC_INCLUDE_DIR AEC_LIBRARY)
if(AEC_INCLUDE_DIR AND AEC_LIBRARY)
  list(APPEND warpfold_compressor_files ${AEC_LIBRARY})
  list(APPEND warpfold_compressor_includes ${AEC_INCLUDE_DIR})
  list(APPEND warpfold_compressor_definitions WARPFOLD_AEC)
endif()
