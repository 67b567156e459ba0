#include "warpfold/device_collectives.hpp"

#include "cuda/arrays/array_engine.hpp"
#include "pipeline/arrays/array_collectives.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold {

struct DeviceCollectives::Parts {
  explicit Parts(MPI_Comm parent) : communicator(parent) {
    // Throws before anything is under way if the setting is wrong.
    communicator.scan_way();
    pipeline::run_on_all(communicator, [this] { engine = cuda::make_array_engine(); });
  }

  mpi::Communicator communicator;
  std::unique_ptr<ArrayEngine> engine;
};

DeviceCollectives::DeviceCollectives(MPI_Comm communicator)
    : parts_(std::make_unique<Parts>(communicator)) {}

DeviceCollectives::~DeviceCollectives() = default;
DeviceCollectives::DeviceCollectives(DeviceCollectives&&) noexcept = default;
DeviceCollectives& DeviceCollectives::operator=(DeviceCollectives&&) noexcept = default;

Summary DeviceCollectives::reduce(const DeviceArray& array, const DeviceReduceOptions& options,
                                  DeviceStream stream) {
  return pipeline::reduce_array(array, options, stream, *parts_->engine, parts_->communicator);
}

void DeviceCollectives::scan(const DeviceArray& input, void* output,
                             const DeviceScanOptions& options, DeviceStream stream) {
  pipeline::scan_array(input, output, options, stream, *parts_->engine, parts_->communicator);
}

void DeviceCollectives::refuse(const Error& mistake) {
  pipeline::refuse(mistake, parts_->communicator);
}

Summary reduce(MPI_Comm communicator, const DeviceArray& array, const DeviceReduceOptions& options,
               DeviceStream stream) {
  return DeviceCollectives(communicator).reduce(array, options, stream);
}

void scan(MPI_Comm communicator, const DeviceArray& input, void* output,
          const DeviceScanOptions& options, DeviceStream stream) {
  DeviceCollectives(communicator).scan(input, output, options, stream);
}

}  // namespace warpfold
