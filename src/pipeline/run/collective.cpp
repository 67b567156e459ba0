#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {

void run_on_root(MPI_Comm communicator, const std::function<void()>& body) {
  run_on_root(mpi::Communicator(communicator), body);
}

}  // namespace warpfold::pipeline
