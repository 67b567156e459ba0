# The libraries that undo a dataset's filters. Sets warpfold_compressors to their targets and
# warpfold_compressor_definitions to what the sources ask for. libdeflate is needed; of the others
# what is found is used.

find_package(PkgConfig REQUIRED)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(liblz4 IMPORTED_TARGET liblz4)
pkg_check_modules(libzstd IMPORTED_TARGET libzstd)

set(warpfold_compressors PkgConfig::libdeflate)
set(warpfold_compressor_definitions)
foreach(compressor LZ4:PkgConfig::liblz4 ZSTD:PkgConfig::libzstd)
  string(REGEX MATCH "^([A-Z0-9]+):(.*)$" _ ${compressor})
  if(TARGET ${CMAKE_MATCH_2})
    list(APPEND warpfold_compressors ${CMAKE_MATCH_2})
    list(APPEND warpfold_compressor_definitions WARPFOLD_${CMAKE_MATCH_1})
  endif()
endforeach()
