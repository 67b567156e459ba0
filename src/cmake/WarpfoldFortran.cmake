# Decides WARPFOLD_HAS_FORTRAN, and enables the language.

include(CheckLanguage)
set(WARPFOLD_HAS_FORTRAN FALSE)
if(WARPFOLD_FORTRAN)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    set(WARPFOLD_HAS_FORTRAN TRUE)
  endif()
endif()
