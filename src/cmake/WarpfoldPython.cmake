# Finds the Python that the package is for, and nanobind in it.

if(Python3_EXECUTABLE AND NOT Python_EXECUTABLE)
  set(Python_EXECUTABLE ${Python3_EXECUTABLE})
endif()
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module
  OPTIONAL_COMPONENTS Development.SABIModule)
if(NOT nanobind_ROOT)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_package(nanobind CONFIG)
if(NOT nanobind_FOUND)
  message(FATAL_ERROR "WARPFOLD_PYTHON needs nanobind, which ${Python_EXECUTABLE} has not: install it "
    "there (pip install nanobind), or set Python_EXECUTABLE to the Python of an environment that has it")
endif()
