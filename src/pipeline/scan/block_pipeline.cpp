#include "pipeline/scan/block_pipeline.hpp"

#include <utility>

#include "pipeline/run/collective.hpp"

namespace warpfold::pipeline {

BlockJob::BlockJob(DatasetView& view, const WorkNeeds& needs, const MakeEngine& make, Run& run)
    : plan(plan_work(view.info(), needs, run)), binding(run.place.near_gpu, plan.threads) {
  run_on_all(run.communicator, [&] {
    source = std::make_unique<BlockSource>(view.dataset, plan, run.monitor.stages());
    engine = make(run.backend.get(), source->engine_plan(view.decoding));
    source->make_readers(engine->decompresses() ? io::Compressed::left : io::Compressed::undone);
  });
  if (auto smaller = narrowed(plan, view.info(), engine->block_elements(), run.communicator))
    plan = std::move(*smaller);
  for (std::uint64_t i = 0; i < plan.mine.count; ++i)
    blocks.push_back(plan.tiling.range(plan.item(i)));
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
