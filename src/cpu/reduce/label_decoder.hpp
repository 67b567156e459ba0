#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/layout/staged_chunks.hpp"
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

}  // namespace warpfold::cpu
