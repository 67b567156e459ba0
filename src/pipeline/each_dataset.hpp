#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/open_file.hpp"
#include "pipeline/chosen_datasets.hpp"
#include "pipeline/collective.hpp"
#include "pipeline/dataset_view.hpp"
#include "pipeline/run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// Opens a dataset to be read as the run's options say. Collective; throws the same Error on every
/// rank.
DatasetView open_for_run(const std::string& file, const std::string& dataset,
                         const ViewOptions& options, Run& run);

/// What use(view) makes of each chosen dataset of a file, which is opened once. Those that were not
/// chosen by their own name and can't be opened are skipped. Collective; throws the same Error on
/// every rank, also where all are skipped.
template <class Result, class Use>
std::vector<DatasetOutcome<Result>> for_each_dataset(const std::string& file,
                                                     const DatasetChoice& choice,
                                                     const ViewOptions& options, Run& run,
                                                     const Use& use) {
  std::optional<io::OpenFile> open_file;
  run_on_root(run.communicator, [&] { open_file.emplace(file); });
  run_on_all(run.communicator, [&] {
    if (!open_file) open_file.emplace(file);
  });
  std::vector<DatasetOutcome<Result>> outcomes;
  bool any = false;
  for (const ChosenDataset& each : chosen_datasets(file, choice, run.communicator)) {
    std::optional<DatasetView> view;
    outcomes.push_back({each.name, "", {}});
    try {
      view.emplace(open_for_run(file, each.name, options, run));
    } catch (const Error& error) {
      if (each.by_name || error.exit_code() == ExitCode::usage) throw;
      outcomes.back().skipped = error.why();
      continue;
    }
    outcomes.back().result = use(*view);
    any = true;
  }
  if (!any)
    throw Error("no dataset of '" + file + "' can be read",
                outcomes.front().dataset + ": " + outcomes.front().skipped,
                "'warpfold info " + file + "' lists them.");
  return outcomes;
}

}  // namespace warpfold::pipeline
