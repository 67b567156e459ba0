# Decides WARPFOLD_HAS_CUDA, the architectures, and enables the language.

include(CheckLanguage)
set(WARPFOLD_HAS_CUDA FALSE)
if(WARPFOLD_CUDA)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(WARPFOLD_HAS_CUDA TRUE)
  elseif(NOT WARPFOLD_CUDA STREQUAL AUTO)
    message(FATAL_ERROR "WARPFOLD_CUDA is ON but no CUDA compiler was found: put nvcc on the PATH, "
      "set CMAKE_CUDA_COMPILER, or use -DWARPFOLD_CUDA=OFF for the cpu backend alone")
  endif()
endif()

if(NOT WARPFOLD_HAS_CUDA)
  message(STATUS "warpfold: no CUDA, the cpu backend alone")
  return()
endif()

# Machine code for the generations this toolkit knows, from the V100 (sm_70, up to CUDA 12) on, and
# PTX of the last for what comes after.
find_package(CUDAToolkit 12.0 REQUIRED)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  if(CUDAToolkit_VERSION VERSION_LESS 12.8)
    set(CMAKE_CUDA_ARCHITECTURES 70-real 80-real 90)
  elseif(CUDAToolkit_VERSION VERSION_LESS 13.0)
    set(CMAKE_CUDA_ARCHITECTURES 70-real 80-real 90-real 100-real 120)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90-real 100-real 120)
  endif()
endif()
enable_language(CUDA)
# CMake 3.25 does not know that nvcc compiles C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
message(STATUS "warpfold: CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
