#pragma once

#include <cstdint>

#include "core/layout/partition.hpp"
#include "core/values/decoding.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {

/// A mask's bits in device memory, of one decoding at a time.
class DeviceMask {
 public:
  /// Returns a decoding whose mask is that of `decoding`, in device memory until the next call.
  Decoding put_on_device(Decoding decoding) {
    Mask& mask = decoding.mask;
    if (mask.selects_all()) return decoding;
    const std::uint64_t words = ceil_div(mask.period, std::uint64_t{Mask::word_bits});
    bits_ = {};
    bits_ = DeviceBuffer(words * sizeof(*mask.words));
    const Stream stream;
    copy_to_device(bits_.data(), mask.words, bits_.size(), stream.get());
    stream.synchronize();
    mask.words = reinterpret_cast<const std::uint64_t*>(bits_.data());
    return decoding;
  }

 private:
  DeviceBuffer bits_;
};

}  // namespace warpfold::cuda
