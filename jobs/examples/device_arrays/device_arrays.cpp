// Sums and prefix-sums an array that the ranks hold on their GPUs:
//
//     mpirun -np 4 device_arrays [ELEMENTS]
//
// Every element is the double nearest to 0.1, so each true sum is known: a product, rounded once.
// Adding one element after the other drifts away from it; warpfold doesn't, and prints the same
// digits for any number of ranks. Exits with 1 where a value is wrong.

#include <cuda_runtime_api.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <variant>
#include <vector>

#include "warpfold/core/error.hpp"
#include "warpfold/device_collectives.hpp"

namespace {

constexpr double element = 0.1;

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

struct DeviceFree {
  void operator()(double* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<double, DeviceFree>;

DeviceMemory allocate(std::uint64_t elements) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, elements * sizeof(double)));
  return DeviceMemory(static_cast<double*>(memory));
}

struct Rank {
  int number = 0;
  int ranks = 1;
};

Rank this_rank() {
  Rank rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank.number);
  MPI_Comm_size(MPI_COMM_WORLD, &rank.ranks);
  return rank;
}

/// The GPU of this rank's place on its host; shared where there are more ranks than GPUs.
void take_gpu() {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int place = 0;
  MPI_Comm_rank(host, &place);
  MPI_Comm_free(&host);
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0) check(cudaSetDevice(place % gpus));
}

bool all_prefixes_right(const std::vector<double>& prefixes, std::uint64_t first) {
  std::uint64_t elements = first;
  return std::ranges::all_of(
      prefixes, [&](double prefix) { return prefix == static_cast<double>(++elements) * element; });
}

bool right_on_all_ranks(bool right) {
  int all = right ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

/// Returns whether every value is right.
bool sum_and_scan(std::uint64_t elements) {
  const Rank rank = this_rank();
  take_gpu();
  warpfold::DeviceCollectives collectives(MPI_COMM_WORLD);

  const auto ranks = static_cast<std::uint64_t>(rank.ranks);
  const std::uint64_t first = elements * static_cast<std::uint64_t>(rank.number) / ranks;
  const std::uint64_t end = elements * static_cast<std::uint64_t>(rank.number + 1) / ranks;
  std::vector<double> values(end - first, element);
  const DeviceMemory array = allocate(values.size());
  const DeviceMemory output = allocate(values.size());
  const std::uint64_t bytes = values.size() * sizeof(double);
  check(cudaMemcpy(array.get(), values.data(), bytes, cudaMemcpyHostToDevice));

  const auto partition = warpfold::device_array(array.get(), values.size());
  const warpfold::Summary summary = collectives.reduce(partition);
  collectives.scan(partition, output.get());

  // On the default stream, as the scan, and so after it.
  check(cudaMemcpy(values.data(), output.get(), bytes, cudaMemcpyDeviceToHost));
  const double sum = std::get<double>(summary.front().second);
  const bool right =
      sum == static_cast<double>(elements) * element && all_prefixes_right(values, first);
  if (rank.number == 0) std::printf("sum          %.17g\n", sum);
  MPI_Barrier(MPI_COMM_WORLD);
  if (first != end && end == elements)
    std::printf("last prefix  %.17g, on rank %d of %d\n", values.back(), rank.number, rank.ranks);
  return right_on_all_ranks(right);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t elements = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = 1;
  try {
    status = sum_and_scan(elements) ? 0 : 1;
    if (status != 0 && this_rank().number == 0) std::fputs("a value is wrong\n", stderr);
  } catch (const warpfold::Error& error) {
    // The same on every rank.
    if (this_rank().number == 0) std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", this_rank().number, error.what());
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
