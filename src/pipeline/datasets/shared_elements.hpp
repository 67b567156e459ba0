#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/run.hpp"

/// Datasets that every rank has in memory, read by all ranks together.
namespace warpfold::pipeline {

/// Brings slabs into a sink of elements.
template <class Sink>
class SinkConsumer final : public Consumer {
 public:
  SinkConsumer(const WorkTiling& tiling, RegionSource& source, const cpu::Kernels& kernels,
               Sink sink, PassThread& thread)
      : tiling_(tiling),
        element_bytes_(size_of(source.info().format.type)),
        staging_(staging_bytes(tiling, source)),
        reader_(source),
        chunks_(kernels, element_bytes_),
        sink_(std::move(sink)),
        thread_(thread) {}

  void take(const PassItem& item) override {
    const StagedChunks staged = reader_.read_part(tiling_.range(item.number), staging_.span());
    chunks_.reduce(staged, staging_.span().data(), sink_);
    thread_.done += staged.target.elements * element_bytes_;
  }

  std::vector<StageTiming> timings() const override { return {}; }

 private:
  const WorkTiling& tiling_;
  std::size_t element_bytes_;
  cpu::PageBuffer staging_;
  RegionReader reader_;
  cpu::ChunkReducer chunks_;
  Sink sink_;
  PassThread& thread_;
};

/// Reads what is selected of a dataset, which is not empty, ranks a share each: each thread into a
/// sink that make_sink(kernels) gives, which sets bits of `words` that were 0. In the end every
/// rank has the bits of all. Collective; throws the same Error on every rank.
template <class MakeSink>
void read_into(std::vector<std::uint64_t>& words, io::Dataset& dataset, Run& run,
               const MakeSink& make_sink) {
  const mpi::Communicator& communicator = run.communicator;
  const io::DatasetInfo& info = dataset.info();
  const WorkPlan plan = plan_work(
      info, {}, {.threads = run.place.threads, .ranks = communicator.size()}, communicator);
  std::optional<RegionSource> source;
  run_on_all(communicator, [&] { source.emplace(dataset, run.monitor.stages(), plan.chunks()); });
  run_pass({plan.mine, std::max(1, plan.threads), info.elements * size_of(info.format.type)},
           run.monitor, communicator, [&](PassThread& thread) {
             const cpu::Kernels& kernels = cpu::choose_kernels();
             using Sink = decltype(make_sink(kernels));
             return std::make_unique<SinkConsumer<Sink>>(plan.tiling, *source, kernels,
                                                         make_sink(kernels), thread);
           });
  words = mpi::bitwise_or(std::move(words), communicator);
}

}  // namespace warpfold::pipeline
