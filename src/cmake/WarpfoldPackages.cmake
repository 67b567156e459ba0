# `cpack` in a build folder makes a Debian package and a tar archive of what is installed:
# jobs/packages/build.sh has the settings that make them the same bits everywhere.

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME warpfold)
if(WARPFOLD_HAS_CUDA)
  set(CPACK_PACKAGE_NAME warpfold-cuda)
  set(CPACK_DEBIAN_PACKAGE_PROVIDES warpfold)
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS warpfold)
  set(CPACK_DEBIAN_PACKAGE_REPLACES warpfold)
endif()
set(CPACK_PACKAGE_VENDOR "The warpfold developers")
set(CPACK_PACKAGE_CONTACT ${CPACK_PACKAGE_VENDOR})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_PACKAGE_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps finds the libraries that the program is linked with. Ranks need a launcher, and programs
# that use the library its dependencies.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin | mpich")
file(STRINGS jobs/dependencies.txt suggested REGEX "^build (compiler|library|filter) ")
list(TRANSFORM suggested REPLACE "^[^|]*[|] *([^ |]+).*$" "\\1")
list(JOIN suggested ", " CPACK_DEBIAN_PACKAGE_SUGGESTS)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY inputs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/warpfold/samples
  FILES_MATCHING PATTERN *.nc PATTERN *.h5 PATTERN answers.json PATTERN README.md)
configure_file(jobs/packages/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/warpfold
  RENAME ${PROJECT_VERSION})
include(CPack)
