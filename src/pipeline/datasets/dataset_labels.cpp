#include "pipeline/datasets/dataset_labels.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/layout/hyperslab.hpp"
#include "core/results/label_numbers.hpp"
#include "core/values/ordered_key.hpp"
#include "io/dataset/texts.hpp"
#include "pipeline/datasets/axis_labels.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"
#include "pipeline/meaning/decoded_values.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Reads labels that are texts on the root; none where they are others. Collective.
std::optional<DatasetLabels> read_text_labels(const std::string& option, DatasetView& view,
                                              Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  DatasetLabels labels{"", ElementType::u32, {}, {}};
  bool are_texts = false;
  run_on_root(communicator, [&] {
    const NamedDataset named = parse_dataset_name("by", option, view.info().file);
    const auto select = [&](const io::DatasetInfo& info) {
      const SharedPart part = shared_part(named, info, view.info(), view.match);
      run.note(match_beside(named, info, view.info(), view.match, part.dimensions));
      labels.dimensions = shared_with_view(part, view.info());
      return part.selection;
    };
    std::optional<io::Texts> texts;
    try {
      texts = io::read_texts(named.file, named.dataset, select, &view.info());
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
  labels.shape = mpi::broadcast(labels.shape, communicator);
  labels.dimensions = dimensions_of_root(labels.dimensions, communicator);
  labels.numbers = mpi::broadcast(labels.numbers, communicator);
  return labels;
}

SharedDataset open_beside(const std::string& name, const DatasetView& view) {
  const NamedDataset named = parse_dataset_name("by", name, view.info().file);
  return shared_dataset(named, open_named_beside(named, view.info()), view.info(), view.match);
}

void require_integers(const io::DatasetInfo& info, ElementType type) {
  if (is_integer(type)) return;
  throw usage_error(
      "`by` '" + info.name + "' has neither integers nor texts",
      "labels are compared as they are, and it is of type " + std::string(name_of(type)),
      "Name a dataset of integers or texts.");
}

/// Opens labels that are integers on every rank. Collective.
DatasetLabels open_integer_labels(const std::string& name, DatasetView& view, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  auto [dataset, dimensions] =
      open_everywhere([&] { return open_beside(name, view); }, communicator);
  view.add_auxiliary(dataset, run);
  const io::DatasetInfo& info = dataset.info();
  Interpretation integers;
  interpret_everywhere(integers, info, {}, communicator);
  const ElementType type = integers.decoding.value_type(info.format.type);
  require_integers(info, type);
  DatasetLabels labels{last_part(info.name), type, info.shape, std::move(dimensions)};
  labels.decoding = integers.decoding;
  labels.dataset = std::move(dataset);
  return labels;
}

void read_numbers(io::Dataset& dataset, const Decoding& decoding, DatasetLabels& labels) {
  constexpr std::uint64_t most = std::uint64_t{1} << 27;
  const io::DatasetInfo& info = dataset.info();
  if (info.elements > most)
    throw Error("cannot group by '" + info.name + "' along several axes",
                "each rank keeps a number for each of its " + std::to_string(info.elements) +
                    " elements in memory; at most " + std::to_string(most) + " are supported",
                "Select a part of the dataset.");
  std::vector<std::optional<std::uint64_t>> all;
  for_each_value(dataset, decoding, [&](auto value, bool counts) {
    all.push_back(counts ? std::optional(ordered_key(value)) : std::nullopt);
  });
  NumberedKeys numbered = number_keys(all);
  labels.keys = std::move(numbered.keys);
  labels.numbers = std::move(numbered.numbers);
}

void set_strides(LabelOutputs& outputs) {
  outputs.strides = row_major_strides(outputs.shape);
  const auto of_labels = outputs.strides.begin() + static_cast<std::ptrdiff_t>(outputs.place);
  outputs.label_stride = *of_labels;
  outputs.strides.erase(of_labels);
}

LabelOutputs outputs_along(const std::vector<int>& along, std::uint64_t labels,
                           const std::vector<std::uint64_t>& shape) {
  LabelOutputs outputs;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_first = !along.empty() && static_cast<std::size_t>(along.front()) == d;
    if (is_first) {
      outputs.place = outputs.shape.size();
      outputs.shape.push_back(labels);
    }
    if (std::ranges::count(along, static_cast<int>(d)) > 0) continue;
    outputs.kept.push_back(d);
    outputs.shape.push_back(shape[d]);
  }
  set_strides(outputs);
  return outputs;
}

/// Returns what the root finds of labels: false of those that can't be opened, which is reported
/// when they are read. Collective.
bool root_finds(const std::string& name, const DatasetView& view,
                const mpi::Communicator& communicator,
                const std::function<bool(const NamedDataset&)>& condition) {
  bool found = false;
  const auto look = [&] { found = condition(parse_dataset_name("by", name, view.info().file)); };
  if (communicator.is_root()) static_cast<void>(capture_exception(look));
  return mpi::broadcast(std::uint64_t{found}, communicator) != 0;
}

}  // namespace

bool are_joined_texts(const std::string& name, const DatasetView& view,
                      const mpi::Communicator& communicator) {
  if (view.info().files.empty()) return false;
  return root_finds(name, view, communicator, [&](const NamedDataset& named) {
    return io::describe_texts(named.file, named.dataset, &view.info()) &&
           joined_dimension(named, view.info());
  });
}

bool has_several_dimensions(const std::string& name, const DatasetView& view,
                            const mpi::Communicator& communicator) {
  return root_finds(name, view, communicator, [&](const NamedDataset& named) {
    return open_named_beside(named, view.info()).info().stored_shape.size() > 1;
  });
}

std::vector<Axis> axes_from_labels(const std::string& name, const DatasetView& view, Run& run) {
  const io::DatasetInfo& info = view.info();
  std::uint64_t first = 0;
  run_on_root(run.communicator, [&] {
    const NamedDataset named = parse_dataset_name("by", name, info.file);
    std::vector<std::size_t> dimensions;
    const auto find = [&](const io::DatasetInfo& labels) {
      const std::size_t joined = info.concatenated_along;
      const bool are_joined_texts = labels.files.empty() && joined_dimension(named, info);
      dimensions = shared_with_view(
          are_joined_texts ? SharedPart{{}, {{joined, 0, io::selection_of(info)[joined]}}}
                           : shared_part(named, labels, info, view.match),
          info);
    };
    try {
      const auto texts = io::describe_texts(named.file, named.dataset, &info);
      find(texts ? *texts : open_named_beside(named, info).info());
    } catch (const Error& error) {
      throw advised_on_part(name, error);
    }
    if (dimensions.size() != 1)
      throw usage_error("`by` '" + named.dataset + "' has " + std::to_string(dimensions.size()) +
                            " dimensions of '" + info.name + "'",
                        "quantiles, `weights` and `times` need labels of one dimension",
                        "Omit them, name labels of one dimension with `by`, or take one label at a "
                        "time with `mask` '" +
                            named.dataset + " == 1'.");
    first = dimensions.front();
  });
  first = mpi::broadcast(first, run.communicator);
  std::vector<Axis> axes{static_cast<std::int64_t>(first)};
  for (std::size_t d = 0; d < info.shape.size(); ++d)
    if (d != first) axes.emplace_back(static_cast<std::int64_t>(d));
  return axes;
}

DatasetLabels labels_of_groups(const AxisShape& array) {
  const AxisGroups& groups = *array.groups;
  const auto dimension = static_cast<std::size_t>(groups.dimension);
  DatasetLabels labels{"", ElementType::u32, {array.shape[dimension]}, {dimension}};
  labels.numbers.assign(array.shape[dimension], no_label);
  for (const auto& [indices, group] : groups.runs)
    std::fill_n(labels.numbers.begin() + static_cast<std::ptrdiff_t>(indices.first), indices.count,
                static_cast<std::uint32_t>(group));
  LabelOutputs& outputs = labels.outputs.emplace();
  const std::vector<int> kept = array.kept();
  outputs.shape = array.output_shape();
  outputs.place =
      static_cast<std::size_t>(std::ranges::find(kept, groups.dimension) - kept.begin());
  outputs.kept.assign(array.across.begin(), array.across.end());
  set_strides(outputs);
  return labels;
}

DatasetLabels open_labels_along(const std::string& name, const std::vector<int>& along,
                                DatasetView& view, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  DatasetLabels labels = open_integer_labels(name, view, run);
  for (const std::size_t d : labels.dimensions)
    if (std::ranges::count(along, static_cast<int>(d)) == 0)
      throw usage_error("`by` '" + labels.dataset->info().name + "' does not fit the axes",
                        "it has dimension " + std::to_string(d) + ", which is not an axis",
                        "Name that dimension among the axes, too.");
  io::Dataset dataset = std::move(*std::exchange(labels.dataset, std::nullopt));
  while_unchanged(view, communicator, [&] {
    run_on_root(communicator, [&] { read_numbers(dataset, labels.decoding, labels); });
  });
  labels.numbers = mpi::broadcast(labels.numbers, communicator);
  const std::uint64_t count = mpi::broadcast(std::uint64_t{labels.keys.size()}, communicator);
  labels.outputs = outputs_along(along, count, view.info().shape);
  return labels;
}

DatasetLabels open_labels(const std::string& name, DatasetView& view, Run& run) {
  if (auto texts = read_text_labels(name, view, run)) return std::move(*texts);
  return open_integer_labels(name, view, run);
}

}  // namespace warpfold::pipeline
