#include "pipeline/datasets/each_dataset.hpp"

namespace warpfold::pipeline {

DatasetView open_for_run(const std::string& file, const std::string& dataset,
                         const ViewOptions& options, Run& run) {
  DatasetView view = open_view(file, dataset, options, run.options.read_path, run.communicator);
  run_on_all(run.communicator, [&] { view.dataset.choose_cache(run.options.file_cache); });
  return view;
}

}  // namespace warpfold::pipeline
