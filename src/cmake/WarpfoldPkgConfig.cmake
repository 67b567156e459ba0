# Installs warpfold.pc, and warpfold-fortran.pc where there is the module. A static library's users
# link what it needs, too.

set(needed)
foreach(library ${HDF5_C_HL_LIBRARIES} ${HDF5_C_LIBRARIES} ${CMAKE_THREAD_LIBS_INIT}
    ${warpfold_compressor_files})
  if(TARGET ${library})  # of an HDF5 that CMake built
    set(library $<TARGET_FILE:${library}>)
  endif()
  list(APPEND needed ${library})
endforeach()
if(WARPFOLD_HAS_CUDA)
  list(APPEND needed $<TARGET_FILE:CUDA::cudart_static> -ldl -lrt)
endif()
set(runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM runtime ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(TRANSFORM runtime PREPEND -l)
list(APPEND needed ${runtime} -lm)
string(REPLACE "PkgConfig::" "" packages "hwloc;${warpfold_compressors}")
list(JOIN packages " " packages)

set(mpi_flags ${MPI_C_INCLUDE_DIRS})
list(TRANSFORM mpi_flags PREPEND -I)
list(JOIN mpi_flags " " mpi_flags)
list(JOIN MPI_C_LIBRARIES " " mpi_libraries)
list(REMOVE_DUPLICATES needed)
list(JOIN needed " " needed)
if(BUILD_SHARED_LIBS)
  set(private .private)
  set(library_lines "Libs: -L\${libdir} -lwarpfold ${mpi_libraries}
Libs.private: ${needed}")
else()
  set(library_lines "Libs: -L\${libdir} -lwarpfold ${mpi_libraries} ${needed}")
endif()

# Relative, so that an installation may be moved.
set(pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_PREFIX}/${pc_folder} ${CMAKE_INSTALL_PREFIX})
set(folders "prefix=\${pcfiledir}/${to_prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/warpfold.pc CONTENT "${folders}
Name: warpfold
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Requires${private}: ${packages}
Cflags: -I\${includedir} ${mpi_flags} -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX
${library_lines}
")
set(pc_files ${PROJECT_BINARY_DIR}/warpfold.pc)
if(WARPFOLD_HAS_FORTRAN)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/warpfold-fortran.pc CONTENT "${folders}
Name: warpfold-fortran
Description: ${PROJECT_DESCRIPTION}: the Fortran module
Version: ${PROJECT_VERSION}
Requires: warpfold
Cflags: -I\${includedir}/warpfold/fortran
Libs: -L\${libdir} -lwarpfold_fortran
")
  list(APPEND pc_files ${PROJECT_BINARY_DIR}/warpfold-fortran.pc)
endif()
install(FILES ${pc_files} DESTINATION ${pc_folder})
