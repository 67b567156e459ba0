#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/dataset_choice.hpp"
#include "warpfold/output_options.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

struct ChosenDataset {
  std::string name;
  bool by_name = true;     ///< named by a path of its own: an error if it can't be read
  std::string unsuitable;  ///< why its elements are no numbers, or empty; not set where by name
};

/// Returns whether a choice is the name of one dataset. Collective.
bool is_one_dataset(const std::string& file, const DatasetChoice& choice,
                    const mpi::Communicator& communicator);

/// Lists the datasets that a choice takes, each once, in the order of its names, those of a pattern
/// (and all of a file) in the order of their paths. Collective; throws the same Error on every
/// rank: a pattern without any lists the datasets there are. Where they are to be data, coordinates
/// are unsuitable.
std::vector<ChosenDataset> chosen_datasets(const std::string& file, const DatasetChoice& choice,
                                           const mpi::Communicator& communicator,
                                           bool only_data = false);

/// Throws a usage Error where several outputs would have one name.
void require_names(const std::vector<ChosenDataset>& chosen, const OutputOptions& output);

/// Lists the files that the datasets of a choice lie in, and of patterns all of the file; none
/// where that can't be opened. For one rank.
std::set<std::string> files_read(const std::string& file, const DatasetChoice& choice);

/// Returns whether an Error, of whichever rank, says that a dataset cannot be read.
bool concerns_dataset(const Error& error, const std::string& file, const std::string& name);

/// Returns a short reason for skipping a dataset, to be printed after its name.
std::string reason_of(const Error& error, const std::string& file, const std::string& name);

/// Returns what use(open(name)) makes of each of a file's chosen datasets. Of those that were not
/// chosen by their own name the ones that have no numbers, or that the options don't fit, are
/// skipped, and those that can't be read are skipped as failed. Collective; throws the same Error
/// on every rank, also where all are skipped: the first usage Error, if any.
template <class Result, class Open, class Use>
std::vector<DatasetOutcome<Result>> for_each_chosen(const std::string& file,
                                                    const std::vector<ChosenDataset>& chosen,
                                                    const Open& open, const Use& use) {
  std::vector<DatasetOutcome<Result>> outcomes;
  outcomes.reserve(chosen.size());
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
      outcome.skipped = reason_of(error, file, each.name);
    }
  }
  if (!any && misuse) std::rethrow_exception(misuse);
  if (!any)
    throw Error(
        "no dataset of '" + file + "' can be read",
        "the first is '" + outcomes.front().dataset + "' (" + outcomes.front().skipped + ")",
        "Run 'warpfold info " + file + "' to list them.");
  return outcomes;
}

/// Opens a file on the root first, so that it is opened once for all of its datasets. Collective;
/// throws the same Error on every rank.
io::OpenFile open_file_everywhere(const std::string& file, const mpi::Communicator& communicator);

/// Returns what use(view) makes of each chosen dataset of a file, which is opened once; otherwise
/// does what for_each_chosen() does.
template <class Result, class Use>
std::vector<DatasetOutcome<Result>> for_each_dataset(const std::string& file,
                                                     const DatasetChoice& choice,
                                                     const ViewOptions& options, Run& run,
                                                     const Use& use) {
  const io::OpenFile open_file = open_file_everywhere(file, run.communicator);
  const std::vector<ChosenDataset> chosen = chosen_datasets(file, choice, run.communicator);
  std::size_t number = 0;
  const auto open = [&](const std::string& name) {
    run.monitor.start_dataset(name, ++number, chosen.size());
    return open_view(file, name, options, run);
  };
  return for_each_chosen<Result>(file, chosen, open, use);
}

/// Does what for_each_dataset() does where each dataset makes outputs of one file: returns what
/// use(prepare(view)) makes of it. Datasets that prepare() throws for are those that the options
/// don't fit; coordinates are taken by their names alone.
template <class Result, class Prepare, class Use>
std::vector<DatasetOutcome<Result>> for_each_output(const std::string& file,
                                                    const DatasetChoice& choice,
                                                    const ViewOptions& options,
                                                    const OutputOptions& output, Run& run,
                                                    const Prepare& prepare, const Use& use) {
  const io::OpenFile open_file = open_file_everywhere(file, run.communicator);
  const std::vector<ChosenDataset> chosen = chosen_datasets(file, choice, run.communicator, true);
  require_names(chosen, output);
  std::size_t number = 0;
  const auto open = [&](const std::string& name) {
    run.monitor.start_dataset(name, ++number, chosen.size());
    DatasetView view = open_view(file, name, options, run);
    try {
      return prepare(std::move(view));
    } catch (const Error& error) {
      if (std::ranges::find(chosen, name, &ChosenDataset::name)->by_name) throw;
      throw usage_error(error.problem(), error.why(), error.suggestion());
    }
  };
  return for_each_chosen<Result>(file, chosen, open, use);
}

}  // namespace warpfold::pipeline
