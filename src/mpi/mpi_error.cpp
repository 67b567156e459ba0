#include "mpi/mpi_error.hpp"

#include <array>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(std::string(call) + " failed", std::string(text.data(), static_cast<size_t>(length)),
              "Check the MPI installation and the hosts of the job.");
}

}  // namespace warpfold::mpi
