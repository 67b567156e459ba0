#include "pipeline/datasets/dataset_factors.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/text.hpp"
#include "core/numeric/cosine.hpp"
#include "core/values/left_out_mark.hpp"
#include "cpu/chunks/decoded_blocks.hpp"
#include "io/dataset/dimensions.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/dataset_mask.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/datasets/shared_elements.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::string_view cosine = "cos:";

const std::string& text_of(const ReduceOptions& options) {
  return options.weights.empty() ? options.times : options.weights;
}

/// Counts the elements of a view that share an index of a stored dimension and those before it.
std::uint64_t elements_behind(const Selection& selection, std::size_t dimension) {
  std::uint64_t elements = 1;
  for (std::size_t d = dimension + 1; d < selection.size(); ++d) elements *= selection[d].count;
  return elements;
}

/// Returns the names of a dataset's one dimension, and, for it may be a dimension scale, its own.
std::vector<std::string> names_of_line(const io::DatasetInfo& info) {
  std::vector<std::string> names{info.name.substr(info.name.rfind('/') + 1)};
  for (const auto& dimension : io::read_dimension_names(info.file, info.name))
    for (const io::DimensionName& each : dimension) names.insert(names.begin(), each.name);
  return names;
}

/// Returns the number of the dimension that has the name and extent of a dataset's only one.
std::optional<std::size_t> dimension_of_line(const io::DatasetInfo& line,
                                             const io::DatasetInfo& info) {
  if (line.stored_shape.size() != 1) return std::nullopt;
  const auto dimensions = io::read_dimension_names(info.file, info.name);
  for (const std::string& name : names_of_line(line))
    for (std::size_t d = 0; d < dimensions.size(); ++d)
      if (info.stored_shape[d] == line.stored_shape.front() &&
          std::ranges::count(dimensions[d], name, &io::DimensionName::name) > 0)
        return d;
  return std::nullopt;
}

struct Opened {
  io::Dataset dataset;
  std::uint64_t stride = 1;
};

Opened along_dimension(io::Dataset line, const io::DatasetInfo& info, std::size_t dimension) {
  const Selection selection = io::selection_of(info);
  line.select({selection[dimension]});
  return {std::move(line), elements_behind(selection, dimension)};
}

Opened open_coordinate_of(const std::string& name, const io::DatasetInfo& info) {
  const auto [dimension, coordinate] = named_dimension(Axis(name), info);
  if (auto line = open_coordinate(info, dimension, coordinate))
    return along_dimension(std::move(*line), info, dimension);
  throw usage_error("bad `weights` '" + std::string(cosine) + name + "'",
                    "dimension '" + name + "' has no coordinate for each index",
                    "Name a dimension with coordinates in degrees, or a dataset of weights.");
}

Opened open_factors(const ReduceOptions& options, const DatasetView& view) {
  const io::DatasetInfo& info = view.info();
  const std::string& text = text_of(options);
  if (!options.weights.empty() && text.starts_with(cosine))
    return open_coordinate_of(text.substr(cosine.size()), info);
  const std::string option = option_of_factors(options);
  const auto [file, name] = parse_mask_name(option, text, info.file);
  io::Dataset dataset(file, name);
  dataset.take_as_unsigned();
  const auto dimension = dimension_of_line(dataset.info(), info);
  const Selection selection =
      dimension ? Selection{} : selection_beside(option, dataset.info(), info);
  dataset.add_note(match_beside(option, dataset.info(), info, view.match, dimension));
  if (dimension) return along_dimension(std::move(dataset), info, *dimension);
  dataset.select(selection);
  return {std::move(dataset), 1};
}

void require_space(const io::DatasetInfo& info, const std::string& option) {
  const std::uint64_t bytes = info.elements * sizeof(double);
  if (bytes > max_factor_bytes)
    throw Error("cannot take `" + option + "` '" + info.name + "'",
                "each rank has it in memory, " + std::to_string(bytes) +
                    " bytes, of which there may be " + std::to_string(max_factor_bytes),
                "Select a part of the dataset.");
}

/// Puts values as doubles, each with the bits of left_out_mark flipped, where their indices say.
class FactorSetter final : public cpu::RangeSink {
 public:
  FactorSetter(const cpu::Kernels& kernels, ElementFormat format, const Decoding& decoding,
               std::span<std::uint64_t> words)
      : type_(decoding.value_type(format.type)),
        blocks_(kernels, format, decoding),
        words_(words) {}

  void reduce(const std::byte* elements, std::uint64_t n,
              const cpu::ElementIndices& indices) override {
    visit_element_type(type_, [&](auto zero) {
      using Value = decltype(zero);
      blocks_.for_each(
          elements, n, indices,
          [&](const std::byte* values, std::size_t kept, const cpu::ElementIndices& places) {
            const auto* x = reinterpret_cast<const Value*>(values);
            for (std::size_t i = 0; i < kept; ++i) {
              double factor = widened(x[i]);
              if (factor != factor) factor = std::numeric_limits<double>::quiet_NaN();
              words_[places(i)] = std::bit_cast<std::uint64_t>(factor) ^ left_out_bits<double>;
            }
          });
    });
  }

 private:
  ElementType type_;
  cpu::DecodedBlocks blocks_;
  std::span<std::uint64_t> words_;
};

/// Throws where a weight is none; those that are left out weigh nothing.
void require_weights(std::span<const double> weights, const std::string& name) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = weights[i];
    if (is_left_out_mark(weight) || (weight >= 0 && std::isfinite(weight))) continue;
    throw Error("cannot take `weights` '" + name + "'",
                "element " + std::to_string(i) + " is " + shortest_decimal(weight),
                "Weights are finite and not negative; a fill value weighs nothing.");
  }
}

}  // namespace

std::string option_of_factors(const ReduceOptions& options) {
  return options.weights.empty() ? "times" : "weights";
}

DatasetFactors::DatasetFactors(const ReduceOptions& options, DatasetView& view, Run& run)
    : are_weights_(!options.weights.empty()) {
  const mpi::Communicator& communicator = run.communicator;
  const auto open = [&] {
    Opened opened = open_factors(options, view);
    stride_ = opened.stride;
    return std::move(opened.dataset);
  };
  io::Dataset dataset = open_everywhere(open, communicator);
  view.read_beside(dataset, run);
  stride_ = mpi::broadcast(stride_, communicator);
  const io::DatasetInfo& info = dataset.info();
  run_on_all(communicator, [&] { require_space(info, option_of_factors(options)); });
  Interpretation values;
  interpret_everywhere(values, info, {}, communicator);
  std::vector<std::uint64_t> words(info.elements);
  while_unchanged(view, communicator, [&] {
    read_into(words, dataset, run, [&](const cpu::Kernels& kernels) {
      return FactorSetter(kernels, info.format, values.decoding, words);
    });
  });
  for (const std::uint64_t word : words)
    values_.push_back(std::bit_cast<double>(word ^ left_out_bits<double>));
  if (are_weights_ && text_of(options).starts_with(cosine))
    for (double& value : values_) value = cosine_of_degrees(value);
  if (are_weights_) run_on_all(communicator, [&] { require_weights(values_, text_of(options)); });
}

}  // namespace warpfold::pipeline
