#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "core/results/axis_parts.hpp"
#include "core/results/label_numbers.hpp"
#include "core/values/decoding.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// One thread's numbering of labels in staging memory. Writes the number of each place's label:
/// `numbers` numbers ordered_key() of it. Elements that the decoding leaves out are no_label.
using LabelDecoder = std::function<void(const StagedChunks& slab, const std::byte* staging,
                                        LabelNumbers& numbers, std::span<std::uint32_t> places)>;

/// Makes one of labels of an integer type, also once they are decoded.
LabelDecoder make_label_decoder(ElementFormat format, const Decoding& decoding);

/// One thread's reduction of slabs into an output for each label.
class LabelReducer {
 public:
  virtual ~LabelReducer() = default;

  /// Reduces a slab's elements: the one at place p into output numbers[p % numbers.size()], if that
  /// is not no_label. There are `outputs` of them, as many as before or more.
  virtual void reduce(const StagedChunks& slab, const std::byte* staging,
                      std::span<const std::uint32_t> numbers, std::uint64_t outputs) = 0;

  /// Returns everything since the last call.
  virtual AxisParts finish() = 0;
};

std::unique_ptr<LabelReducer> make_label_reducer(ElementFormat format, const Decoding& decoding,
                                                 ReduceNeeds needs);

}  // namespace warpfold::cpu
