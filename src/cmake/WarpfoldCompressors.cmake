# The libraries that undo a dataset's filters. Sets warpfold_compressors to their targets;
# warpfold_compressor_files and warpfold_compressor_includes to libraries that pkg-config does not
# know and to the folders of their headers; warpfold_compressor_definitions to what the sources ask
# for. libdeflate is needed; of the others what is found is used.

find_package(PkgConfig REQUIRED)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(liblz4 IMPORTED_TARGET liblz4)
pkg_check_modules(libzstd IMPORTED_TARGET libzstd)
pkg_check_modules(blosc IMPORTED_TARGET blosc)
pkg_check_modules(blosc2 IMPORTED_TARGET blosc2)

set(warpfold_compressors PkgConfig::libdeflate)
set(warpfold_compressor_definitions)
foreach(compressor LZ4:PkgConfig::liblz4 ZSTD:PkgConfig::libzstd BLOSC:PkgConfig::blosc BLOSC2:PkgConfig::blosc2)
  string(REGEX MATCH "^([A-Z0-9]+):(.*)$" _ ${compressor})
  if(TARGET ${CMAKE_MATCH_2})
    list(APPEND warpfold_compressors ${CMAKE_MATCH_2})
    list(APPEND warpfold_compressor_definitions WARPFOLD_${CMAKE_MATCH_1})
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
