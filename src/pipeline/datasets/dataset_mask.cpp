#include "pipeline/datasets/dataset_mask.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "core/layout/partition.hpp"
#include "core/values/value_filters.hpp"
#include "cpu/chunks/bit_runs.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/chunk_reducer.hpp"
#include "cpu/reduce/range_reducer.hpp"
#include "pipeline/datasets/shared_elements.hpp"
#include "pipeline/meaning/matching.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr auto word_bits = static_cast<std::uint64_t>(Mask::word_bits);

std::string text_of(std::span<const std::uint64_t> shape) {
  return "(" + joined(shape, ", ") + ")";
}

/// Counts the last dimensions that two shapes have in common.
std::size_t common_dimensions(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first -
                                  a.rbegin());
}

}  // namespace

Selection selection_beside(const std::string& option, const io::DatasetInfo& mask,
                           const io::DatasetInfo& masked) {
  const std::span<const std::uint64_t> shape = mask.stored_shape;
  const std::size_t common = common_dimensions(shape, masked.stored_shape);
  const std::size_t leading = shape.size() - common;
  const bool is_null = shape.empty() && mask.elements == 0;
  if (is_null || std::ranges::any_of(shape.first(leading), [](auto extent) { return extent != 1; }))
    throw usage_error(
        "`" + option + "` '" + mask.name + "' does not fit dataset '" + masked.name + "'",
        is_null ? "it has no elements"
                : text_of(shape) + " is not the shape of the last dimensions of " +
                      text_of(masked.stored_shape),
        "Name a dataset of the same shape, or of that of the last dimensions.");
  Selection selection(leading, Slice{0, 1, 1, true});
  const Selection of_masked = io::selection_of(masked);
  selection.insert(selection.end(), of_masked.end() - static_cast<std::ptrdiff_t>(common),
                   of_masked.end());
  return selection;
}

std::string match_beside(const std::string& option, const io::DatasetInfo& mask,
                         const io::DatasetInfo& masked, Matching matching,
                         std::optional<std::size_t> line_along) {
  if (matching == Matching::position) return "";
  const Selection selection = io::selection_of(masked);
  std::vector<SharedDimension> shared;
  if (line_along) {
    shared.push_back({*line_along, 0, selection[*line_along]});
  } else {
    const std::size_t common = common_dimensions(mask.stored_shape, masked.stored_shape);
    for (std::size_t d = 0; d < common; ++d) {
      const std::size_t of_masked = selection.size() - common + d;
      shared.push_back({of_masked, mask.stored_shape.size() - common + d, selection[of_masked]});
    }
  }
  Grid grid(masked);
  Grid other(mask);
  const std::string described = "`" + option + "` '" + mask.name + "'";
  const std::string note = require_match(grid, other, shared,
                                         described + " of '" + mask.file + "' does not fit '" +
                                             masked.name + "' of '" + masked.file + "'");
  return note.empty() ? "" : described + " and '" + masked.name + "': " + note;
}

namespace {

Selection selection_of_mask(const io::DatasetInfo& mask, const io::DatasetInfo& masked) {
  Selection selection = selection_beside("mask", mask, masked);
  const std::uint64_t elements = product(counts_of(selection));
  if (elements > 8 * max_mask_bytes)
    throw Error("cannot take `mask` '" + mask.name + "'",
                "each rank has it in memory, " + std::to_string(ceil_div(elements, 8)) +
                    " bytes, of which there may be " + std::to_string(max_mask_bytes),
                "Select a part of the dataset, or name a mask of its last dimensions.");
  return selection;
}

/// Returns what leaves out 0, too, of a mask's values.
Decoding without_zero(Decoding decoding, ElementType stored) {
  const ElementType values = decoding.value_type(stored);
  decoding.values = filter_of_conditions(std::vector<std::string>{"!=0"}, values);
  return decoding;
}

/// Sets the bits of elements that count; threads may set bits of the same words.
class BitSetter final : public cpu::RangeSink {
 public:
  BitSetter(const cpu::Kernels& kernels, ElementFormat format, const Decoding& decoding,
            std::span<std::uint64_t> words)
      : element_bytes_(size_of(format.type)),
        decoder_(cpu::make_element_decoder(kernels, format, without_zero(decoding, format.type))),
        words_(words) {}

  void reduce(const std::byte* elements, std::uint64_t n,
              const cpu::ElementIndices& indices) override {
    for (std::uint64_t first = 0; first < n; first += cpu::block_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(cpu::block_elements, n - first));
      set(decoder_->decode(elements + first * element_bytes_, size), size, indices.from(first));
    }
  }

 private:
  void set(const cpu::DecodedValues& decoded, std::size_t n, const cpu::ElementIndices& indices) {
    if (decoded.kept == 0) return;
    const std::uint64_t* counts = decoded.kept == n ? all_.data() : decoded.counts;
    const auto add = [&](std::uint64_t word, std::uint64_t bits) {
      if (bits != 0) std::atomic_ref(words_[word]).fetch_or(bits, std::memory_order_relaxed);
    };
    cpu::for_each_index_run(indices.box(), indices.first_place(), n, words_.size() * word_bits,
                            [&](std::uint64_t index, std::size_t done, std::size_t elements) {
                              cpu::put_bits(counts, done, elements, index, add);
                            });
  }

  std::size_t element_bytes_;
  std::unique_ptr<cpu::ElementDecoder> decoder_;
  std::span<std::uint64_t> words_;
  std::vector<std::uint64_t> all_ =
      std::vector<std::uint64_t>(cpu::words_of(cpu::block_elements), ~std::uint64_t{0});
};

}  // namespace

MaskName parse_mask_name(const std::string& option, const std::string& text,
                         const std::string& file) {
  constexpr std::string_view separator = "::";
  const std::size_t place = text.rfind(separator);
  const bool in_other_file = place != std::string::npos;
  MaskName name{in_other_file ? text.substr(0, place) : file,
                in_other_file ? text.substr(place + separator.size()) : text};
  if (name.file.empty() || name.dataset.empty())
    throw usage_error("bad `" + option + "` '" + text + "'", "it names no dataset",
                      "Give DATASET, or FILE::DATASET of another file.");
  return name;
}

io::Dataset open_mask(const std::string& name, const io::DatasetInfo& masked, Matching matching) {
  const auto [file, dataset] = parse_mask_name("mask", name, masked.file);
  io::Dataset mask(file, dataset);
  mask.take_as_unsigned();
  const Selection selection = selection_of_mask(mask.info(), masked);
  mask.add_note(match_beside("mask", mask.info(), masked, matching));
  mask.select(selection);
  return mask;
}

DatasetMask::DatasetMask(io::Dataset dataset, const Decoding& decoding, Run& run)
    : dataset_(std::move(dataset)), words_(ceil_div(dataset_.info().elements, word_bits)) {
  read_into(words_, dataset_, run, [&](const cpu::Kernels& kernels) {
    return BitSetter(kernels, dataset_.info().format, decoding, words_);
  });
}

}  // namespace warpfold::pipeline
