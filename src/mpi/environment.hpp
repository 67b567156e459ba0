#pragma once

namespace warpfold::mpi {

/// MPI, from construction to destruction. MPI is called from the constructing thread alone.
class Environment {
 public:
  Environment(int& argc, char**& argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

}  // namespace warpfold::mpi
