/// Any text as the value of an option: an Error or a value within its bounds.
///
/// Input: the parser (1 byte), the text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>

#include "cli/options/option_values.hpp"
#include "core/layout/selection.hpp"
#include "core/values/value_filters.hpp"
#include "fuzz_input.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/scan_operation.hpp"
#include "warpfold/core/statistic.hpp"

namespace warpfold::fuzz {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void try_selection(std::string_view text, std::span<const std::uint64_t> shape) {
  for (const NamedSlice& each : named_slices(text)) require(!each.slice.empty());
  const Selection selection = parse_selection(text, shape);
  require(selection.size() == shape.size());
  std::size_t kept = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Slice& slice = selection[d];
    require(slice.step >= 1);
    if (slice.count > 0) {
      require(slice.start < shape[d]);
      require(slice.count - 1 <= (shape[d] - 1 - slice.start) / slice.step);
    }
    kept += slice.dropped ? 0 : 1;
  }
  require(selected_shape(selection).size() == kept);
}

void try_selection_of_some_dimensions(std::string_view text) {
  constexpr std::uint64_t extents[] = {5, 1, 0, std::uint64_t{1} << 62, 7};
  if (text.empty()) return;
  const std::size_t dimensions = static_cast<unsigned char>(text[0]) % (std::size(extents) + 1);
  try_selection(text.substr(1), std::span(extents).first(dimensions));
}

void try_size(std::string_view text) { require(cli::parse_size("--slab", text) >= 1); }

void try_sizes(std::string_view text) {
  std::uint64_t last = 0;
  for (const std::uint64_t size : cli::parse_sizes("--sizes", text)) {
    require(size > last);
    last = size;
  }
}

void try_shape(std::string_view text) {
  double elements = 1;
  for (const std::uint64_t extent : cli::parse_shape("--chunks", text))
    elements *= static_cast<double>(extent);
  require(elements <= 0x1p60);
}

void try_integer(std::string_view text) {
  const std::uint64_t value = cli::parse_integer("--ddof", text, 3, 1000);
  require(value >= 3 && value <= 1000);
}

void try_output_name(std::string_view text) {
  require(!cli::parse_output_name("-o", text).file.empty());
}

void try_names(std::string_view text) {
  static_cast<void>(parse_statistics(text));
  static_cast<void>(cli::parse_names("--kernels", text));
}

void try_conditions(std::string_view text) {
  const std::string words[] = {std::string(text)};
  for (const ElementType type : {ElementType::i8, ElementType::u64, ElementType::f32})
    static_cast<void>(filter_of_conditions(words, type));
}

void try_fill_value(std::string_view text) {
  for (const ElementType type : {ElementType::i64, ElementType::bf16, ElementType::f64})
    static_cast<void>(parse_fill_value(text, type));
}

void try_words(std::string_view text) {
  static_cast<void>(cli::parse_real("--value", text));
  static_cast<void>(cli::parse_choice("--overflow", text, cli::overflow_policies));
  static_cast<void>(parse_scan_operation(text));
  static_cast<void>(parse_element_type(text));
}

constexpr void (*parsers[])(std::string_view) = {
    try_selection_of_some_dimensions,
    try_size,
    try_sizes,
    try_shape,
    try_integer,
    try_output_name,
    try_names,
    try_words,
    try_conditions,
    try_fill_value,
};

void parse(FuzzInput input) {
  const auto parser = parsers[input.byte() % std::size(parsers)];
  try {
    parser(input.rest_as_text());
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

}  // namespace
}  // namespace warpfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warpfold::fuzz::parse({data, size});
  return 0;
}
