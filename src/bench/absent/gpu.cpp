#include "bench/benchmarks.hpp"
#include "bench/gpu/exchange.hpp"
#include "bench/gpu/gpu_inflate.hpp"
#include "bench/gpu/gpu_resources.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "warpfold/core/error.hpp"

/// The measurements of a build without CUDA.
namespace warpfold::bench {
namespace {

Error no_gpu() {
  return Error("no GPU to measure on", cuda::unavailable_reason(),
               "Run it on a host with a GPU, with a build with CUDA.");
}

}  // namespace

DeviceFacts current_device_facts() { return {}; }

std::vector<Exchange> gpu_exchanges(const Settings&, const mpi::Communicator&) { throw no_gpu(); }

std::unique_ptr<Transfer> make_gpu_transfer(std::uint64_t) { throw no_gpu(); }

GpuInflate make_gpu_inflate(const std::vector<std::span<const std::byte>>&, std::uint64_t,
                            std::uint64_t) {
  throw no_gpu();
}

Result bench_reduce(MPI_Comm, const Settings&) { throw no_gpu(); }

Result bench_scan(MPI_Comm, const Settings&) { throw no_gpu(); }

Result bench_histogram(MPI_Comm, const Settings&) { throw no_gpu(); }

Result bench_select(MPI_Comm, const Settings&) { throw no_gpu(); }

Result bench_axes(MPI_Comm, const Settings&) { throw no_gpu(); }

Result bench_labels(MPI_Comm, const Settings&) { throw no_gpu(); }

Result bench_collectives(MPI_Comm, const Settings&) { throw no_gpu(); }

Result ladder_reduce(MPI_Comm, const Settings&) { throw no_gpu(); }

Result ladder_scan(MPI_Comm, const Settings&) { throw no_gpu(); }

Result ladder_atomics(MPI_Comm, const Settings&) { throw no_gpu(); }

}  // namespace warpfold::bench
