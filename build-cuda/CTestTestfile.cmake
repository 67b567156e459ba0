# CMake generated Testfile for 
# Source directory: /tmp/wt/lead
# Build directory: /tmp/wt/lead/build-cuda
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
subdirs("src")
subdirs("tests")
