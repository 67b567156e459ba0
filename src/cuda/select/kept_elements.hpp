#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/values/decoding.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/select/keep_elements.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Which elements are kept of those stored, and as what.
struct KeepRule {
  ElementFormat format;  ///< as stored
  Decoding decoding;
  bool places = false;  ///< are wanted

  /// Of kept elements.
  ElementFormat value_format() const { return {decoding.value_type(format.type)}; }
};

/// Device memory for the elements of a slab or block that are kept.
class KeptElements {
 public:
  /// Of at most `elements` at a time.
  KeptElements(const KeepRule& rule, std::uint64_t elements);

  static std::uint64_t bytes(const KeepRule& rule, std::uint64_t elements);

  /// Starts keeping what the rule keeps of `count` elements in device memory.
  void keep(const std::byte* elements, std::uint64_t count, cudaStream_t stream) const;

  ElementFormat format() const { return rule_.value_format(); }
  const std::byte* values() const { return target_.values; }
  const std::uint32_t* places() const { return target_.places; }  ///< null where not wanted
  const std::uint64_t* count() const { return target_.count; }

 private:
  KeepRule rule_;
  DeviceBuffer memory_;
  kernels::KeptTarget target_;
};

}  // namespace warpfold::cuda
