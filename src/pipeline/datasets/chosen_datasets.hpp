#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

struct ChosenDataset {
  std::string name;
  bool by_name = true;     ///< by a path of its own: one that can't be read is an error
  std::string unsuitable;  ///< why its elements are no numbers, or empty; not told where by name
};

/// Lists the datasets that a choice takes, each once, in the order of its names, those of a pattern
/// (and all of a file) in the order of their paths. Collective; throws the same Error on every
/// rank: a pattern without any lists the datasets there are.
std::vector<ChosenDataset> chosen_datasets(const std::string& file, const DatasetChoice& choice,
                                           const mpi::Communicator& communicator);

/// Lists the files that the datasets of a choice lie in, and of patterns all of the file; none
/// where that can't be opened. For one rank.
std::set<std::string> files_read(const std::string& file, const DatasetChoice& choice);

/// Tells whether an Error, of whichever rank, says that a dataset cannot be read.
bool concerns_dataset(const Error& error, const std::string& file, const std::string& name);

/// Returns what use(open(name)) makes of each of a file's chosen datasets. Of those that were not
/// chosen by their own name the ones that have no numbers, or that the options don't fit, are
/// skipped, and those that can't be read are skipped as failed. Collective; throws the same Error
/// on every rank, also where all are skipped: the first usage Error, if any.
template <class Result, class Open, class Use>
std::vector<DatasetOutcome<Result>> for_each_chosen(const std::string& file,
                                                    const std::vector<ChosenDataset>& chosen,
                                                    const Open& open, const Use& use) {
  std::vector<DatasetOutcome<Result>> outcomes;
  bool any = false;
  std::exception_ptr misuse;
  for (const ChosenDataset& each : chosen) {
    DatasetOutcome<Result>& outcome = outcomes.emplace_back();
    outcome.dataset = each.name;
    outcome.skipped = each.unsuitable;
    if (!outcome.skipped.empty()) continue;
    std::optional<std::invoke_result_t<Open, const std::string&>> opened;
    try {
      opened.emplace(open(each.name));
      outcome.result = use(*opened);
      any = true;
    } catch (const Error& error) {
      if (each.by_name || (opened && !concerns_dataset(error, file, each.name))) throw;
      outcome.failed = error.exit_code() != ExitCode::usage;
      if (!misuse && !outcome.failed) misuse = std::current_exception();
      outcome.skipped = error.why().empty() ? error.problem() : error.why();
    }
  }
  if (!any && misuse) std::rethrow_exception(misuse);
  if (!any)
    throw Error("no dataset of '" + file + "' can be read",
                outcomes.front().dataset + ": " + outcomes.front().skipped,
                "'warpfold info " + file + "' lists them.");
  return outcomes;
}

/// Returns what use(view) makes of each chosen dataset of a file, which is opened once; otherwise
/// does what for_each_chosen() does.
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
  const std::vector<ChosenDataset> chosen = chosen_datasets(file, choice, run.communicator);
  std::size_t number = 0;
  const auto open = [&](const std::string& name) {
    run.monitor.start_dataset(name, ++number, chosen.size());
    return open_view(file, name, options, run);
  };
  return for_each_chosen<Result>(file, chosen, open, use);
}

}  // namespace warpfold::pipeline
