#include "warpfold/reduce.hpp"

#include <chrono>

#include "mpi/combine.hpp"
#include "pipeline/backend_choice.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/dataset_info_exchange.hpp"
#include "pipeline/fold_pipeline.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/stage_clock.hpp"

namespace warpfold {

ReduceResult reduce(MPI_Comm parent, const std::string& file, const std::string& name,
                    const ReduceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const mpi::Communicator communicator(parent);
  pipeline::run_on_all(communicator, [&] { pipeline::check_slab_bytes(options.run.slab_bytes); });
  io::Dataset dataset = pipeline::open_everywhere(file, name, communicator);
  const io::DatasetInfo& info = dataset.info();
  const pipeline::ChosenBackend chosen = pipeline::choose_backend(options.run, communicator);

  pipeline::SlabCut cut =
      pipeline::cut_into_slabs(info, options.run.slab_bytes, communicator.size());
  std::unique_ptr<FoldEngine> engine;
  pipeline::run_on_all(communicator, [&] {
    engine = chosen.backend->make_fold_engine(
        {info.format, needs_of(options.statistics, info.format.type), cut.slab_elements});
  });
  cut.slab_elements = pipeline::common_slab_elements(cut, *engine, info, communicator);
  pipeline::FoldOutcome mine =
      pipeline::fold_partition(dataset, *engine, cut, options.run, communicator);

  pipeline::StageClock combine("combine");
  const Accumulator whole = combine.time(
      sizeof(Accumulator), [&] { return mpi::reduce(mine.accumulator, communicator); });
  mine.stages.push_back(combine.timing());

  ReduceResult result;
  result.report = pipeline::describe_run(chosen, communicator);
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
