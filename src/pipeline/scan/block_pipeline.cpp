#include "pipeline/scan/block_pipeline.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {

namespace {

/// Outputs of a block take a quarter of the memory for chunks: as many wait in memory, and both
/// once more when they are compressed.
constexpr std::uint64_t blocks_in_chunk_memory = 4;

WorkPlan plan_blocks(const io::DatasetInfo& info, const WorkNeeds& needs, const OutputRows* output,
                     const Run& run) {
  WorkPlan plan = plan_work(info, needs, run);
  if (output == nullptr) return plan;
  const std::size_t widest = std::max(size_of(info.format.type), needs.element_bytes);
  WorkSizes sizes =
      fit_to_output(plan.sizes, output->rows, info.elements, widest,
                    chunk_memory(plan.threads) / blocks_in_chunk_memory, means_of(run));
  sizes.item_elements = mpi::minimum({sizes.item_elements}, run.communicator).front();
  return WorkPlan(plan.items, sizes,
                  WorkTiling(Tiling(info.elements, std::min(info.elements, sizes.item_elements))),
                  run.communicator.size(), run.communicator.rank());
}

/// Returns the elements whose prefixes a range of outputs has.
ElementRange elements_of(ElementRange outputs, std::uint64_t zeros) {
  const std::uint64_t first = std::max(outputs.first, zeros);
  return {first - zeros, outputs.end() - std::min(first, outputs.end())};
}

}  // namespace

BlockJob::BlockJob(DatasetView& view, const WorkNeeds& needs, const MakeEngine& make, Run& run,
                   const OutputRows* output)
    : plan(plan_blocks(view.info(), needs, output, run)),
      binding(run.place.near_gpu, plan.threads) {
  run_on_all(run.communicator, [&] {
    source = std::make_unique<BlockSource>(view.dataset, plan, run.monitor.stages());
    engine = run.make_engine(
        [&](Backend& backend) { return make(backend, source->engine_plan(view.decoding)); });
    source->make_readers(engine->decompresses() ? io::Compressed::left : io::Compressed::undone);
  });
  if (auto smaller = narrowed(plan, view.info(), engine->block_elements(), run.communicator))
    plan = std::move(*smaller);
  if (output != nullptr)
    whole_rows = output->rows.blocks(plan.sizes.item_elements, plan.sizes.granule);
  if (whole_rows)
    plan = WorkPlan(plan.items, plan.sizes, WorkTiling(*whole_rows), run.communicator.size(),
                    run.communicator.rank());
  for (std::uint64_t i = 0; i < plan.mine.count; ++i) {
    const ElementRange range = plan.tiling.range(plan.item(i));
    blocks.push_back(whole_rows ? elements_of(range, output->zeros) : range);
  }
}

BlockPipeline::BlockPipeline(const BlockJob& job, const std::vector<PieceCounts>& pieces,
                             Store store)
    : job_(job),
      store_(std::move(store)),
      flow_(pieces, job.engine->blocks(), job.source->max_loading()),
      workers_(job.plan.threads, [this](int worker, const std::stop_token& stop) {
        flow_.process_pieces(stop, [&](const PieceTask& task) { process(worker, task); });
      }) {}

bool BlockPipeline::loaded(std::uint64_t block, std::chrono::microseconds patience) {
  if (flow_.wait_until_loaded(block, patience)) return true;
  if (flow_.stopped()) workers_.wait_for(patience);
  return false;
}

void BlockPipeline::finish(const std::exception_ptr& failure,
                           const std::function<std::uint64_t()>& done, ProgressMonitor& monitor,
                           const mpi::Communicator& communicator) {
  wait_all_ranks(workers_, communicator, monitor, [&] {
    if (failure) std::rethrow_exception(failure);
    return done();
  });
}

void BlockPipeline::process(int worker, const PieceTask& task) {
  if (task.stores)
    store_(worker, task.block, task.piece);
  else
    job_.source->load(worker, job_.place(task.block), job_.blocks[task.block], task.piece,
                      *job_.engine);
}

std::vector<PieceCounts> pieces_to_load(const BlockJob& job) {
  std::vector<PieceCounts> pieces;
  for (const ElementRange& block : job.blocks)
    pieces.push_back({block.count == 0 ? 0 : job.source->pieces(block), 0});
  return pieces;
}

}  // namespace warpfold::pipeline
