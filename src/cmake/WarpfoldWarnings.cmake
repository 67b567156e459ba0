# warpfold_options: what every target of the project is compiled with.

set(warpfold_nvcc_options -fmad=false --expt-relaxed-constexpr)
add_library(warpfold_options INTERFACE)
target_compile_options(warpfold_options INTERFACE
  # Error-free transformations hold only for the operations as written.
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion>
  # Files that are compiled as one have names of the same scope.
  $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>,-Wshadow>>
  $<$<COMPILE_LANGUAGE:CUDA>:${warpfold_nvcc_options};-Xcompiler=-Wall,-Wextra>)
if(WARPFOLD_WARNINGS_ARE_ERRORS)
  target_compile_options(warpfold_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
