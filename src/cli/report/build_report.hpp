#pragma once

#include <string>

namespace warpfold::cli {

/// A build report tells what this program was built with, and how it finds the machine.
struct BuildReport {
  std::string version;
  std::string compiler;
  std::string build_type;
  std::string cuda;  ///< toolkit and architectures, or that there are none
  std::string mpi;   ///< library and standard
  std::string hdf5;  ///< version, parallel or serial
  std::string instruction_set;
};

BuildReport build_report();

/// Tells of the build and the machine, in lines for a reader.
std::string config_text();

}  // namespace warpfold::cli
