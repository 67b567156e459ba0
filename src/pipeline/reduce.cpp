#include "warpfold/reduce.hpp"

#include <chrono>

#include "mpi/combine.hpp"
#include "pipeline/backend_choice.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/dataset_info_exchange.hpp"
#include "pipeline/fold_pipeline.hpp"
#include "pipeline/slab_plan.hpp"
#include "pipeline/stage_clock.hpp"

namespace warpfold {

ReduceResult reduce(MPI_Comm parent, const std::string& file, const std::string& name,
                    const ReduceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const mpi::Communicator communicator(parent);
  pipeline::run_on_all(communicator, [&] { pipeline::check_slab_bytes(options.run.slab_bytes); });
  const pipeline::BackendPlace place = pipeline::choose_place(options.run, communicator);
  pipeline::StartingBackend backend([&place] { return make_backend(place); });
  io::Dataset dataset = pipeline::open_everywhere(file, name, communicator, options.run.read_path);
  pipeline::run_on_all(communicator, [&] { dataset.choose_cache(options.run.file_cache); });
  const FoldNeeds needs = needs_of(options.statistics, dataset.info().format.type);
  pipeline::FoldOutcome mine;
  {
    const pipeline::FoldSetup setup =
        pipeline::set_up_fold(dataset, needs, place, backend, options.run, communicator);
    mine = pipeline::fold_slabs(setup, dataset.info(), options.run, communicator);
  }
  pipeline::run_on_all(communicator, [&] { dataset.require_unchanged(); });
  const io::DatasetInfo& info = dataset.info();

  pipeline::StageClock combine(pipeline::stage::combine);
  const Accumulator whole = combine.time(
      sizeof(Accumulator), [&] { return mpi::reduce(mine.accumulator, communicator); });
  mine.stages.push_back(combine.timing());

  ReduceResult result;
  result.report = pipeline::describe_run(backend.get(), place.fallback, communicator);
  result.report.stages = pipeline::busiest(mine.stages, communicator);
  result.format = info.format;
  result.shape = info.shape;
  if (communicator.is_root())
    result.summary = summarize(whole, info.format.type, options.statistics, options.summary);
  result.report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace warpfold
