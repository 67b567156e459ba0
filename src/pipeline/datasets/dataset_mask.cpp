#include "pipeline/datasets/dataset_mask.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "core/layout/partition.hpp"
#include "cpu/chunks/bit_runs.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/chunk_reducer.hpp"
#include "cpu/reduce/range_reducer.hpp"
#include "pipeline/datasets/concatenation.hpp"
#include "pipeline/datasets/shared_elements.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

constexpr auto word_bits = static_cast<std::uint64_t>(Mask::word_bits);

/// Throws where a mask of a range of dimensions would take too much memory.
void require_space(const std::string& name, DimensionRange range,
                   std::span<const std::uint64_t> shape) {
  const std::uint64_t elements = range.elements(shape);
  if (elements <= 8 * max_mask_bytes) return;
  throw Error("cannot use `mask` '" + name + "'",
              "each rank keeps it in memory, " + std::to_string(ceil_div(elements, 8)) +
                  " bytes; at most " + std::to_string(max_mask_bytes) + " are supported",
              "Select a part of the dataset, or name a mask of fewer of its dimensions.");
}

/// Sets the bits of elements that count; threads may set bits of the same words.
class BitSetter final : public cpu::RangeSink {
 public:
  BitSetter(const cpu::Kernels& kernels, ElementFormat format, const Decoding& decoding,
            std::span<std::uint64_t> words)
      : element_bytes_(size_of(format.type)),
        decoder_(cpu::make_element_decoder(kernels, format, decoding)),
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

std::vector<std::uint64_t> repeated(const std::vector<std::uint64_t>& words,
                                    std::span<const std::size_t> dimensions, DimensionRange range,
                                    std::span<const std::uint64_t> shape) {
  std::vector<std::uint64_t> target(ceil_div(range.elements(shape), word_bits));
  for_each_repeated(shape, dimensions, range, [&](std::uint64_t place, std::uint64_t index) {
    target[place / word_bits] |= (words[index / word_bits] >> index % word_bits & 1)
                                 << place % word_bits;
  });
  return target;
}

std::vector<std::size_t> dimensions_of(DimensionRange range) {
  std::vector<std::size_t> dimensions(range.end - range.first);
  std::iota(dimensions.begin(), dimensions.end(), range.first);
  return dimensions;
}

bool is_whole(std::span<const std::size_t> dimensions, DimensionRange range) {
  return dimensions.size() == range.end - range.first;
}

}  // namespace

std::vector<NamedCondition> conditions_beside(const ViewOptions& options, const std::string& file) {
  std::vector<NamedCondition> conditions;
  if (!options.mask.empty()) conditions.push_back(parse_mask(options.mask, file));
  for (const std::string& text : options.where)
    if (auto condition = condition_on_other(text)) conditions.push_back(std::move(*condition));
  return conditions;
}

SharedDataset open_mask(const NamedCondition& condition, const io::DatasetInfo& masked,
                        Matching matching) {
  const NamedDataset named = parse_dataset_name(condition.option, condition.dataset, masked.file);
  SharedDataset mask = shared_dataset(named, open_named_beside(named, masked), masked, matching);
  require_space(mask.dataset.info().name, range_of(mask.dimensions, masked.shape), masked.shape);
  return mask;
}

void KeptIndices::keep(std::size_t dimension, const std::vector<std::uint64_t>& words) {
  std::vector<std::uint64_t>& line = lines_.try_emplace(dimension, words).first->second;
  std::ranges::transform(line, words, line.begin(), std::bit_and{});
}

ElementRange KeptIndices::within(ElementRange indices, std::size_t dimension) const {
  const auto line = lines_.find(dimension);
  if (line == lines_.end()) return indices;
  const auto is_kept = [&](std::uint64_t index) {
    return (line->second[index / word_bits] >> index % word_bits & 1) != 0;
  };
  while (indices.count > 0 && !is_kept(indices.first))
    indices = {indices.first + 1, indices.count - 1};
  while (indices.count > 0 && !is_kept(indices.end() - 1)) --indices.count;
  return indices;
}

std::uint64_t DatasetMask::take(io::Dataset& dataset, std::span<const std::size_t> dimensions,
                                const Decoding& decoding, Run& run) {
  const io::DatasetInfo& info = dataset.info();
  std::vector<std::uint64_t> words(ceil_div(info.elements, word_bits));
  read_into(words, dataset, run, [&](const cpu::Kernels& kernels) {
    return BitSetter(kernels, info.format, decoding, words);
  });
  const std::uint64_t counting = cpu::choose_kernels().count_bits(words.data(), words.size());
  keep(std::move(words), dimensions, info.name, run);
  return counting;
}

void DatasetMask::keep(std::vector<std::uint64_t> words, std::span<const std::size_t> dimensions,
                       const std::string& name, Run& run) {
  if (dimensions.size() == 1) indices_.keep(dimensions.front(), words);
  const std::vector<std::size_t> own = dimensions_of(range_);
  std::vector<std::size_t> both;
  std::ranges::set_union(own, dimensions, std::back_inserter(both));
  const DimensionRange range = range_of(both, shape_);
  run_on_all(run.communicator, [&] { require_space(name, range, shape_); });
  if (!is_whole(dimensions, range)) words = repeated(words, dimensions, range, shape_);
  if (words_.empty()) {
    words_ = std::move(words);
  } else {
    if (!is_whole(own, range)) words_ = repeated(words_, own, range, shape_);
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= words[i];
  }
  range_ = range;
}

}  // namespace warpfold::pipeline
