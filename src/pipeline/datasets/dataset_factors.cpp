#include "pipeline/datasets/dataset_factors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/base/text.hpp"
#include "core/numeric/cosine.hpp"
#include "core/numeric/exact_product.hpp"
#include "core/values/left_out_mark.hpp"
#include "cpu/chunks/decoded_blocks.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/dataset/dimensions.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/datasets/shared_dimensions.hpp"
#include "pipeline/datasets/shared_elements.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr std::string_view cosine = "cos:";

/// Opens the coordinate of a dimension; none where only a dataset has the name.
std::optional<SharedDataset> open_coordinate_of(const std::string& name, const NamedDataset& named,
                                                const io::DatasetInfo& info) {
  const bool is_dataset = io::has_dataset(named.file, named.dataset);
  const auto dimensions = io::read_dimension_names(info);
  const auto is_called = [&](const auto& names) {
    return std::ranges::count(names, name, &io::DimensionName::name) > 0;
  };
  if (is_dataset && std::ranges::none_of(dimensions, is_called)) return std::nullopt;
  const auto [dimension, coordinate] = named_dimension(Axis(name), info);
  if (auto line = open_coordinate(info, dimension, coordinate)) {
    const Slice indices = io::selection_of(info)[dimension];
    const SharedPart part{{indices}, {{dimension, 0, indices}}};
    line->select(part.selection);
    return SharedDataset{std::move(*line), shared_with_view(part, info)};
  }
  if (is_dataset) return std::nullopt;
  throw usage_error("bad `weights` '" + std::string(cosine) + name + "'",
                    "dimension '" + name + "' has no coordinate for each index",
                    "Name a dimension with coordinates in degrees, or a dataset of weights.");
}

io::Dataset open_factors_beside(const NamedDataset& named, const FactorsOption& given,
                                const io::DatasetInfo& info) {
  try {
    return open_named_beside(named, info);
  } catch (const Error& error) {
    if (!given.are_weights || !given.text.starts_with("cos")) throw;
    throw Error(error.problem(), error.why(),
                error.suggestion() + " For cosines of latitudes give 'cos:DIMENSION'.",
                error.exit_code());
  }
}

SharedDataset open_factors(const FactorsOption& given, const DatasetView& view) {
  const io::DatasetInfo& info = view.info();
  const bool are_cosines = given.are_weights && given.text.starts_with(cosine);
  const std::string name = given.text.substr(are_cosines ? cosine.size() : 0);
  const NamedDataset named = parse_dataset_name(given.name, name, info.file);
  if (are_cosines)
    if (auto coordinate = open_coordinate_of(name, named, info)) return std::move(*coordinate);
  return shared_dataset(named, open_factors_beside(named, given, info), info, view.match, true);
}

void require_space(const io::DatasetInfo& info, std::uint64_t factors, const std::string& option) {
  const std::uint64_t bytes = factors * sizeof(double);
  if (bytes > max_factor_bytes)
    throw Error("cannot use `" + option + "` '" + info.name + "'",
                "each rank keeps it in memory, " + std::to_string(bytes) + " bytes; at most " +
                    std::to_string(max_factor_bytes) + " are supported",
                "Select a part of the dataset.");
}

/// Splits an integer into a double, towards zero, and what is left.
template <class Integer>
std::pair<double, double> split(Integer value) {
  constexpr Integer low_bits = (Integer{1} << (64 - std::numeric_limits<double>::digits)) - 1;
  if (fits_double(value)) return {static_cast<double>(value), 0.0};
  const Integer rest = std::is_signed_v<Integer> ? value % (low_bits + 1) : value & low_bits;
  return {static_cast<double>(value - rest), static_cast<double>(rest)};
}

/// Puts values as doubles, each with the bits of left_out_mark flipped, where their indices say;
/// what doubles lack of 64-bit integers behind all of them.
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
              double factor = 0.0;
              if constexpr (std::is_integral_v<Value> && sizeof(Value) == sizeof(double)) {
                double rest = 0.0;
                std::tie(factor, rest) = split(x[i]);
                words_[words_.size() / 2 + places(i)] = std::bit_cast<std::uint64_t>(rest);
              } else {
                factor = widened(x[i]);
              }
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

/// The units of an angle.
enum class Angle : std::uint8_t { degrees, radians };

/// Returns those of a dimension's coordinate; degrees where it has none. Throws a usage Error for
/// units of something else.
Angle angle_units(const io::DatasetInfo& coordinate, const std::string& weights) {
  const std::string units =
      io::read_dataset_text(coordinate.file, coordinate.name).units.value_or("degrees");
  const std::string name = lowered(trimmed(units));
  if (name == "rad" || name == "radian" || name == "radians") return Angle::radians;
  if (name.empty() || name.starts_with("deg") || name == "°") return Angle::degrees;
  throw usage_error(
      "bad `weights` '" + weights + "'",
      "the coordinate '" + coordinate.name + "' in '" + coordinate.file + "' is in '" + units +
          "', no units of an angle",
      "Name a dimension of latitudes in degrees or radians, or a dataset of weights.");
}

/// Puts their cosines in place of latitudes.
void take_cosines(std::vector<double>& latitudes, Angle units, const io::DatasetInfo& info) {
  const bool in_degrees = units == Angle::degrees;
  // Latitudes of poles that were rounded to f32 are poles.
  constexpr double right_angle = 1.5707964;
  for (std::size_t i = 0; i < latitudes.size(); ++i) {
    double& latitude = latitudes[i];
    if (is_left_out_mark(latitude) && info.stored_shape.size() > 1) continue;
    if (std::fabs(latitude) <= (in_degrees ? 90.0 : right_angle)) {
      latitude = in_degrees ? cosine_of_degrees(latitude) : cosine_of_radians(latitude);
      continue;
    }
    throw Error("cannot use cosines of '" + info.name + "' in '" + info.file + "' as `weights`",
                "index " + std::to_string(i) + " is " +
                    (std::isnan(latitude) ? "not a number" : shortest_decimal(latitude)) +
                    ", which is not a latitude in " + (in_degrees ? "degrees" : "radians"),
                "Correct the coordinate and its units, or name a dataset of weights.");
  }
}

std::vector<double> repeated(std::span<const double> factors,
                             std::span<const std::size_t> dimensions, DimensionRange range,
                             std::span<const std::uint64_t> shape) {
  std::vector<double> target(range.elements(shape));
  for_each_repeated(shape, dimensions, range, [&](std::uint64_t place, std::uint64_t index) {
    target[place] = factors[index];
  });
  return target;
}

/// Throws where a weight is none; those that are left out weigh nothing.
void require_weights(std::span<const double> weights, const std::string& name) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = weights[i];
    if (is_left_out_mark(weight) || (weight >= 0 && std::isfinite(weight))) continue;
    throw Error("cannot use `weights` '" + name + "'",
                "element " + std::to_string(i) + " is " + shortest_decimal(weight),
                "Give finite weights of 0 or more; a fill value counts as 0.");
  }
}

}  // namespace

std::optional<FactorsOption> factors_option(const ReduceOptions& options) {
  if (!options.weights.empty()) return FactorsOption{"weights", options.weights, true};
  if (!options.times.empty()) return FactorsOption{"times", options.times};
  return std::nullopt;
}

DatasetFactors::DatasetFactors(const FactorsOption& option, DatasetView& view, Run& run)
    : are_weights_(option.are_weights) {
  const mpi::Communicator& communicator = run.communicator;
  SharedDataset opened = open_everywhere([&] { return open_factors(option, view); }, communicator);
  const std::vector<std::size_t>& dimensions = opened.dimensions;
  view.add_auxiliary(opened.dataset, run);
  const std::vector<std::uint64_t>& shape = view.info().shape;
  const DimensionRange range = range_of(dimensions, shape);
  stride_ = range.stride(shape);
  const io::DatasetInfo& info = opened.dataset.info();
  run_on_all(communicator, [&] { require_space(info, range.elements(shape), option.name); });
  Interpretation values;
  interpret_everywhere(values, info, {}, communicator);
  const ElementType type = values.decoding.value_type(info.format.type);
  const bool has_rests = is_integer(type) && size_of(type) == sizeof(double);
  std::vector<std::uint64_t> words(has_rests ? 2 * info.elements : info.elements);
  while_unchanged(view, communicator, [&] {
    read_into(words, opened.dataset, run, [&](const cpu::Kernels& kernels) {
      return FactorSetter(kernels, info.format, values.decoding, words);
    });
  });
  values_.reserve(info.elements);
  for (const std::uint64_t word : std::span(words).first(info.elements))
    values_.push_back(std::bit_cast<double>(word ^ left_out_bits<double>));
  for (const std::uint64_t word : std::span(words).subspan(info.elements))
    rests_.push_back(std::bit_cast<double>(word));
  if (std::ranges::count(rests_, 0.0) == std::ssize(rests_)) rests_.clear();
  if (are_weights_ && option.text.starts_with(cosine)) {
    auto units = static_cast<std::uint64_t>(Angle::degrees);
    run_on_root(communicator,
                [&] { units = static_cast<std::uint64_t>(angle_units(info, option.text)); });
    units = mpi::broadcast(units, communicator);
    run_on_all(communicator, [&] { take_cosines(values_, static_cast<Angle>(units), info); });
  }
  if (are_weights_) run_on_all(communicator, [&] { require_weights(values_, option.text); });
  if (dimensions.size() == range.end - range.first) return;
  for (std::vector<double>* factors : {&values_, &rests_})
    if (!factors->empty()) *factors = repeated(*factors, dimensions, range, shape);
}

std::optional<DatasetFactors> read_factors(const FactorsOption& option, DatasetView& view,
                                           Run& run) {
  if (view.info().elements == 0) return std::nullopt;
  return run.opening.time(0, [&] { return DatasetFactors(option, view, run); });
}

}  // namespace warpfold::pipeline
