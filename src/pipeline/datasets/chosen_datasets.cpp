#include "pipeline/datasets/chosen_datasets.hpp"

#include <nlohmann/json.hpp>

#include "io/dataset/dataset_open.hpp"
#include "io/output/coordinate_names.hpp"

namespace warpfold::pipeline {
namespace {

using nlohmann::json;

constexpr std::size_t max_listed_names = 10;

/// A chooser makes a choice from the datasets of a file, which are listed where a pattern needs it.
class Chooser {
 public:
  explicit Chooser(const std::string& file) : file_(file) {}

  void add_all() {
    if (there().empty())
      throw Error("nothing to read in '" + file_ + "'", "it has no datasets", "");
    for (const io::DatasetListing& listing : there()) add(listing);
  }

  void add(const std::string& name) {
    if (io::is_pattern(file_, name))
      add_matches(name);
    else
      add(ChosenDataset{name, true, ""});
  }

  /// Notes of those that no name requested which are coordinates.
  void leave_out_coordinates() {
    if (std::ranges::all_of(chosen_, &ChosenDataset::by_name)) return;
    const std::set<std::string> coordinates = io::coordinates_among(file_, names_there());
    for (ChosenDataset& each : chosen_)
      if (!each.by_name && each.unsuitable.empty() && coordinates.contains(each.name))
        each.unsuitable = "it is a coordinate of others";
  }

  std::vector<ChosenDataset> take() { return std::move(chosen_); }

 private:
  void add(ChosenDataset dataset) {
    if (taken_.insert(io::without_leading_slashes(dataset.name)).second)
      chosen_.push_back(std::move(dataset));
  }

  void add(const io::DatasetListing& listing) {
    add(ChosenDataset{listing.name, false, listing.damaged ? "" : listing.unsupported});
  }

  void add_matches(const std::string& pattern) {
    const auto matches = io::list_datasets(file_, io::without_leading_slashes(pattern));
    for (const io::DatasetListing& listing : matches) add(listing);
    if (!matches.empty()) return;
    throw Error("no dataset of '" + file_ + "' matches '" + pattern + "'",
                there().empty() ? "it has no datasets"
                                : "it has " + io::enumerate(names_there(), max_listed_names),
                "Run 'warpfold info " + file_ + "' to list all; '*' does not match a slash.");
  }

  std::vector<std::string> names_there() {
    std::vector<std::string> names;
    for (const io::DatasetListing& listing : there()) names.push_back(listing.name);
    return names;
  }

  const std::vector<io::DatasetListing>& there() {
    if (!there_) there_ = io::list_datasets(file_);
    return *there_;
  }

  const std::string& file_;
  std::vector<ChosenDataset> chosen_;
  std::set<std::string> taken_;
  std::optional<std::vector<io::DatasetListing>> there_;
};

std::vector<ChosenDataset> share_from_root(const std::vector<ChosenDataset>& chosen,
                                           const mpi::Communicator& communicator) {
  json document = json::array();
  for (const ChosenDataset& each : chosen)
    document.push_back({each.name, each.by_name, each.unsuitable});
  std::string packed;
  json::to_msgpack(document, packed);
  std::vector<ChosenDataset> shared;
  for (const json& each : json::from_msgpack(mpi::broadcast(packed, communicator)))
    shared.push_back({each[0].get<std::string>(), each[1].get<bool>(), each[2].get<std::string>()});
  return shared;
}

}  // namespace

bool concerns_dataset(const Error& error, const std::string& file, const std::string& name) {
  return error.problem().starts_with(io::cannot_read(file, name));
}

std::string reason_of(const Error& error, const std::string& file, const std::string& name) {
  if (error.why().empty()) return error.problem();
  return concerns_dataset(error, file, name) ? error.why() : error.problem() + ": " + error.why();
}

bool is_one_dataset(const std::string& file, const DatasetChoice& choice,
                    const mpi::Communicator& communicator) {
  if (choice.all || choice.names.size() != 1) return false;
  bool pattern = false;
  const auto look = [&] { pattern = io::is_pattern(file, choice.names.front()); };
  // A file that can't be opened is reported when it is read.
  if (communicator.is_root()) static_cast<void>(capture_exception(look));
  return mpi::broadcast(std::uint64_t{pattern}, communicator) == 0;
}

std::vector<ChosenDataset> chosen_datasets(const std::string& file, const DatasetChoice& choice,
                                           const mpi::Communicator& communicator, bool only_data) {
  std::vector<ChosenDataset> chosen;
  run_on_root(communicator, [&] {
    Chooser chooser(file);
    if (choice.all) chooser.add_all();
    for (const std::string& name : choice.names) chooser.add(name);
    if (only_data) chooser.leave_out_coordinates();
    chosen = chooser.take();
  });
  return communicator.is_alone() ? chosen : share_from_root(chosen, communicator);
}

void require_names(const std::vector<ChosenDataset>& chosen, const OutputOptions& output) {
  if (output.dataset.empty() || chosen.size() == 1) return;
  throw usage_error("one output is named '" + output.dataset + "'",
                    std::to_string(chosen.size()) + " datasets are chosen",
                    "Name the file alone; outputs take the names of their inputs.");
}

io::OpenFile open_file_everywhere(const std::string& file, const mpi::Communicator& communicator) {
  std::optional<io::OpenFile> opened;
  run_on_root(communicator, [&] { opened.emplace(file); });
  run_on_all(communicator, [&] {
    if (!opened) opened.emplace(file);
  });
  return std::move(*opened);
}

std::set<std::string> files_read(const std::string& file, const DatasetChoice& choice) {
  std::vector<std::string> names = choice.names;
  try {
    const auto is_pattern = [&](const std::string& name) { return io::is_pattern(file, name); };
    if (choice.all || std::ranges::any_of(names, is_pattern))
      for (const auto& listing : io::list_datasets(file)) names.push_back(listing.name);
    return io::files_beneath(file, names);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace warpfold::pipeline
