#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/layout/partition.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/chunk_reducer.hpp"
#include "cpu/reduce/range_reducer.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/work_queue.hpp"

/// Datasets that every rank has in memory, read by all ranks together.
namespace warpfold::pipeline {

/// One thread's reading of slabs into a sink of elements.
template <class Sink>
class SlabSinkReader {
 public:
  SlabSinkReader(const SlabTiling& tiling, RegionSource& source, const cpu::Kernels& kernels,
                 Sink sink)
      : tiling_(tiling),
        grid_(source.grid()),
        element_bytes_(size_of(source.info().format.type)),
        staging_(tiling.in_chunks ? source.bytes_of_chunks(tiling.slabs.max_places())
                                  : source.bytes_of_range(tiling.max_elements)),
        reader_(source),
        chunks_(kernels, element_bytes_),
        sink_(std::move(sink)) {}

  /// Reads slabs until there are no more.
  void run(WorkQueue::Worker& worker) {
    while (const auto slab = worker.next()) {
      const StagedChunks staged = read(tiling_.slabs.range(*slab));
      chunks_.reduce(staged, staging_.span().data(), staged.indices, sink_);
      worker.advance(staged.target.elements * element_bytes_);
    }
  }

 private:
  StagedChunks read(ElementRange slab) {
    if (!tiling_.in_chunks) return reader_.read(slab, 0, staging_.span());
    const ChunkRun run{slab.first, slab.count};
    return reader_.read(run, box_target(*grid_, run), box_indices(*grid_, run), staging_.span());
  }

  const SlabTiling& tiling_;
  const ChunkGrid* grid_;
  std::size_t element_bytes_;
  cpu::PageBuffer staging_;
  RegionReader reader_;
  cpu::ChunkReducer chunks_;
  Sink sink_;
};

/// Reads what is selected of a dataset, which is not empty, ranks a share each: each thread into a
/// sink that make_sink(kernels) gives, which sets bits of `words` that were 0. In the end every
/// rank has the bits of all. Collective; throws the same Error on every rank.
template <class MakeSink>
void read_into(std::vector<std::uint64_t>& words, io::Dataset& dataset, Run& run,
               const MakeSink& make_sink) {
  const mpi::Communicator& communicator = run.communicator;
  const io::DatasetInfo& info = dataset.info();
  const RunOptions chosen_freely;
  const SlabPlan plan =
      plan_slabs(info, chosen_freely, {run.place.threads, false}, communicator.size());
  const SlabTiling tiling(info, mpi::minimum({plan.slab_elements}, communicator).front());
  const ElementRange mine =
      share_of(tiling.slabs.items(), communicator.size(), communicator.rank());
  std::optional<RegionSource> source;
  run_on_all(communicator, [&] {
    source.emplace(dataset, tiling.in_chunks ? chunks_of(tiling.slabs, mine) : ChunkRun{},
                   run.monitor.stages());
  });
  const auto read = [&](WorkQueue::Worker& worker) {
    const cpu::Kernels& kernels = cpu::choose_kernels();
    SlabSinkReader(tiling, *source, kernels, make_sink(kernels)).run(worker);
    return std::vector<StageTiming>{};
  };
  WorkQueue(mine).run(std::max(1, threads_for(plan, mine.count)), read,
                      info.elements * size_of(info.format.type), run.monitor, communicator);
  words = mpi::bitwise_or(std::move(words), communicator);
}

}  // namespace warpfold::pipeline
