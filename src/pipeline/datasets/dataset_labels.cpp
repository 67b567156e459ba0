#include "pipeline/datasets/dataset_labels.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "core/results/label_numbers.hpp"
#include "io/dataset/texts.hpp"
#include "pipeline/datasets/axis_labels.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

template <class T>
std::vector<T> broadcast(const std::vector<T>& values, const mpi::Communicator& communicator) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  const std::string sent =
      mpi::broadcast(std::string(bytes, values.size() * sizeof(T)), communicator);
  std::vector<T> received(sent.size() / sizeof(T));
  std::memcpy(received.data(), sent.data(), sent.size());
  return received;
}

/// Reads labels that are texts on the root; none where they are others. Collective.
std::optional<DatasetLabels> read_text_labels(const std::string& option, DatasetView& view,
                                              Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  DatasetLabels labels{"", ElementType::u32, {}, {}};
  bool are_texts = false;
  run_on_root(communicator, [&] {
    const NamedDataset named = parse_dataset_name("by", option, view.info().file);
    const auto select = [&](const io::DatasetInfo& info) {
      const SharedPart part = shared_part("by", named, info, view.info(), view.match);
      run.note(match_beside("by", info, view.info(), view.match, part.dimensions));
      labels.dimensions = shared_with_view(part, view.info());
      return part.selection;
    };
    std::optional<io::Texts> texts;
    try {
      texts = io::read_texts(named.file, named.dataset, select);
    } catch (const Error& error) {
      throw advised_on_part(option, error);
    }
    if (!texts) return;
    are_texts = true;
    const auto empty =
        std::ranges::count_if(texts->numbers, [](const auto& number) { return !number; });
    run.note(
        empty_labels_note(named.dataset, static_cast<std::uint64_t>(empty), texts->numbers.size()));
    view.auxiliary_files.merge(texts->files);
    view.require_unchanged_auxiliary.push_back(texts->require_unchanged);
    labels.name = last_part(named.dataset);
    labels.shape = std::move(texts->shape);
    labels.texts = std::move(texts->there);
    for (const auto& number : texts->numbers) labels.numbers.push_back(number.value_or(no_label));
  });
  if (mpi::broadcast(std::uint64_t{are_texts}, communicator) == 0) return std::nullopt;
  labels.name = mpi::broadcast(labels.name, communicator);
  labels.shape = broadcast(labels.shape, communicator);
  labels.dimensions = dimensions_of_root(labels.dimensions, communicator);
  labels.numbers = broadcast(labels.numbers, communicator);
  return labels;
}

io::Dataset open_beside(const std::string& name, const DatasetView& view,
                        std::vector<std::size_t>& dimensions) {
  const io::DatasetInfo& labelled = view.info();
  const NamedDataset named = parse_dataset_name("by", name, labelled.file);
  io::Dataset labels(named.file, named.dataset);
  labels.take_as_unsigned();
  const SharedPart part = shared_part("by", named, labels.info(), labelled, view.match);
  labels.add_note(match_beside("by", labels.info(), labelled, view.match, part.dimensions));
  labels.select(part.selection);
  dimensions = shared_with_view(part, labelled);
  return labels;
}

}  // namespace

DatasetLabels open_labels(const std::string& name, DatasetView& view, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  if (auto texts = read_text_labels(name, view, run)) return std::move(*texts);
  std::vector<std::size_t> dimensions;
  io::Dataset dataset =
      open_everywhere([&] { return open_beside(name, view, dimensions); }, communicator);
  view.add_auxiliary(dataset, run);
  const io::DatasetInfo& info = dataset.info();
  Interpretation integers;
  interpret_everywhere(integers, info, {}, communicator);
  const ElementType type = integers.decoding.value_type(info.format.type);
  if (!is_integer(type))
    throw usage_error(
        "`by` '" + info.name + "' has neither integers nor texts",
        "labels are compared as they are, and it is of type " + std::string(name_of(type)),
        "Name a dataset of integers or texts.");
  DatasetLabels labels{last_part(info.name), type, info.shape,
                       dimensions_of_root(dimensions, communicator)};
  labels.decoding = integers.decoding;
  labels.dataset = std::move(dataset);
  return labels;
}

}  // namespace warpfold::pipeline
