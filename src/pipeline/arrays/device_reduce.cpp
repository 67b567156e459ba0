#include "pipeline/arrays/device_reduce.hpp"

#include <optional>

#include "mpi/agreement.hpp"
#include "mpi/combine.hpp"
#include "pipeline/arrays/device_agreement.hpp"

namespace warpfold::pipeline {
namespace {

/// Of a reduction; that of a scan is odd.
std::uint64_t form_of(ElementType type, const ReduceNeeds& needs) {
  std::uint64_t form = static_cast<std::uint64_t>(type);
  for (const bool need : {needs.sum, needs.absolute, needs.squares, needs.extrema})
    form = form << 1 | (need ? 1u : 0u);
  return form << 1;
}

}  // namespace

Summary reduce_device_array(const DeviceArray& array, const DeviceReduceOptions& options,
                            DeviceStream stream, cuda::ArrayEngine& engine,
                            const mpi::Communicator& communicator) {
  const ReduceNeeds needs = needs_of(options.statistics, array.type);
  bool started = false;
  std::exception_ptr failure = capture_exception([&] {
    check_device_array("array", array.data, array.count, size_of(array.type), engine);
    if (array.count == 0) return;
    engine.start_reduce(array.data, array.count, array.type, needs, stream);
    started = true;
  });

  // The ranks agree while their devices reduce; a reduction that was started is waited for in any
  // case.
  const std::uint64_t first_index =
      needs.extrema ? mpi::exclusive_sum(array.count, communicator) : 0;
  const std::exception_ptr disagreement =
      capture_exception([&] { agree(failure, form_of(array.type, needs), communicator); });
  std::optional<Accumulator> mine;
  failure = capture_exception([&] {
    mine = started ? engine.reduce_result() : Accumulator::empty();
    mine->shift_indices(first_index);
  });
  if (disagreement) std::rethrow_exception(disagreement);

  const std::optional<Accumulator> whole = mpi::reduce_everywhere(mine, communicator);
  if (!whole) mpi::throw_on_all_ranks(failure, communicator);
  return summarize(*whole, array.type, options.statistics, options.summary);
}

}  // namespace warpfold::pipeline
