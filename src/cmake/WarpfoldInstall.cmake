# Installs the library, its headers, the program, what tells how to use it, and what
# find_package(warpfold) and pkg-config read.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/warpfold)

install(TARGETS warpfold EXPORT warpfold_targets)
install(TARGETS warpfold_cli)
# Packages may omit this component: without it `bench` and `ladder` are errors.
install(TARGETS warpfold_bench_cli COMPONENT bench)
install(DIRECTORY include/warpfold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.hpp PATTERN *.h)
# Manual pages, as warpfold_manual has written them, and completions.
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ src/cli/manual/shells/
  DESTINATION ${CMAKE_INSTALL_DATADIR})
install(DIRECTORY src/cli/report/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/warpfold)
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/warpfold)
install(DIRECTORY jobs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/warpfold USE_SOURCE_PERMISSIONS
  PATTERN __pycache__ EXCLUDE)
if(WARPFOLD_HAS_FORTRAN)
  install(TARGETS warpfold_fortran EXPORT warpfold_targets)
  # For the compiler that made it; others need the source.
  install(FILES ${PROJECT_BINARY_DIR}/fortran/warpfold.mod src/pipeline/bindings/warpfold.F90
    src/pipeline/bindings/kind.inc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpfold/fortran)
endif()
install(EXPORT warpfold_targets FILE warpfold-targets.cmake NAMESPACE warpfold:: DESTINATION ${package_folder})
configure_package_config_file(src/cmake/warpfold-config.cmake.in
  ${PROJECT_BINARY_DIR}/warpfold-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warpfold-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warpfold-config.cmake
  ${PROJECT_BINARY_DIR}/warpfold-config-version.cmake DESTINATION ${package_folder})
include(WarpfoldPkgConfig)
