#pragma once

#include <mpi.h>

#include "bench/harness/result.hpp"
#include "cli/options/measuring_settings.hpp"

/// The benchmarks. Each is collective: every rank measures at the same time, on its own GPU where
/// it is one of GPUs. Each throws Error, also where it needs a GPU and there is none.
namespace warpfold::bench {

using Settings = cli::MeasuringSettings;

inline constexpr int usual_iterations = 21;

/// Measures reductions of arrays in device memory beside CUB's sums, a read-only probe and a copy.
Result bench_reduce(MPI_Comm communicator, const Settings& settings);

/// Measures prefix sums of arrays in device memory beside CUB's and a copy.
Result bench_scan(MPI_Comm communicator, const Settings& settings);

/// Measure histograms, selections of elements, sums and prefix sums along an axis, and sums and
/// counts by labels, of arrays in device memory, compared with CUB's (labels: plain atomic
/// additions), a read-only probe and a copy. The host computes the exact answers without the
/// library's arithmetic.
Result bench_histogram(MPI_Comm communicator, const Settings& settings);
Result bench_select(MPI_Comm communicator, const Settings& settings);
Result bench_axes(MPI_Comm communicator, const Settings& settings);
Result bench_labels(MPI_Comm communicator, const Settings& settings);

/// Measures reductions and scans of arrays that lie in the memory of all ranks' GPUs, from the call
/// of DeviceCollectives to the result on every rank, beside copies on all GPUs.
Result bench_collectives(MPI_Comm communicator, const Settings& settings);

/// Measures handing results from GPU to host, and combining them over ranks; on the cpu backend, or
/// where there is no GPU and the choice is free, only the latter.
Result bench_combine(MPI_Comm communicator, const Settings& settings);

/// Measures the whole way from a file to its statistics, and to the file of its prefix sums, beside
/// what reading, inflating and copying alone take with as many threads, and beside the HDF5
/// library's reading; also with `where`, `mask`, `weights` and the dataset's attributes, each
/// alone. Writes `output` and a copy of `file` beside it, and removes both.
Result bench_ingest(MPI_Comm communicator, const Settings& settings);

/// Measures every variant of the reduction's ladder beside the production kernel, CUB and a copy.
/// Inputs are those of the articles: u32 of the Middle-Square Weyl Sequence (2^28 elements, 2^30 in
/// the article), f32 and f64 1.23 (10^8).
Result ladder_reduce(MPI_Comm communicator, const Settings& settings);

/// Measures the ladder of inclusive sums of i32: 2^26 random elements.
Result ladder_scan(MPI_Comm communicator, const Settings& settings);

/// Measures filters that count with atomics, which select a tenth, half and nine tenths of 2^26
/// random elements, beside a copy.
Result ladder_atomics(MPI_Comm communicator, const Settings& settings);

}  // namespace warpfold::bench
