#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "core/values/byte_order.hpp"
#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"

namespace warpfold::pipeline {

/// Calls use(value, counts) for each element that is selected of a dataset. For one rank; throws
/// Error.
template <class Use>
void for_each_value(io::Dataset& dataset, const Decoding& decoding, const Use& use) {
  const ElementFormat format = dataset.info().format;
  std::vector<std::byte> bytes(dataset.info().elements * size_of(format.type));
  dataset.read({0, dataset.info().elements}, bytes);
  visit_element_type(format.type, [&](auto element) {
    visit_value_of<decltype(element)>(decoding.unpacking, [&](auto value) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(element)) {
        std::memcpy(static_cast<void*>(&element), bytes.data() + at, sizeof(element));
        if (format.order != native_byte_order) element = byte_swapped(element);
        const bool counts = decode(decoding, element, value);
        use(value, counts);
      }
    });
  });
}

}  // namespace warpfold::pipeline
