#include "pipeline/arrays/device_agreement.hpp"

#include <string>
#include <vector>

#include "mpi/agreement.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {

void check_device_array(const char* name, const void* data, std::uint64_t count,
                        std::uint64_t element_bytes, const cuda::ArrayEngine& engine) {
  if (count == 0) return;
  const std::string subject = std::string("the ") + name;
  if (data == nullptr)
    throw usage_error(subject + " is null", "it has " + std::to_string(count) + " elements",
                      "Pass its address in device memory, or no elements.");
  if (reinterpret_cast<std::uintptr_t>(data) % element_bytes != 0)
    throw usage_error(subject + " is not aligned to its elements",
                      "they have " + std::to_string(element_bytes) + " bytes",
                      "Pass the address of an element.");
  engine.check_memory(data);
}

void agree(const std::exception_ptr& failure, std::uint64_t form,
           const mpi::Communicator& communicator) {
  const std::uint64_t well = failure ? 0 : 1;
  const std::vector<std::uint64_t> minimum = mpi::minimum({well, form, ~form}, communicator);
  if (minimum[0] == 0) mpi::throw_on_all_ranks(failure, communicator);
  if (minimum[1] == ~minimum[2]) return;
  throw usage_error("ranks differ in a call on arrays in device memory",
                    "type, options or function are not the same on all of them",
                    "Make the same call on every rank; only arrays and streams may differ.");
}

}  // namespace warpfold::pipeline
