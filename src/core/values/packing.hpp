#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/values/cf_time.hpp"
#include "core/values/decoding.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold {

/// A packing is how a file stores values: elements of a format, and what its attributes make of
/// them.
struct Packing {
  /// The units of times, and those in which they are wanted.
  struct Times {
    TimeUnits stored;
    TimeUnits wanted;

    bool operator==(const Times&) const = default;
  };

  ElementFormat format;
  Decoding decoding;  ///< has no conditions on values and no mask
  std::optional<Times> times = {};

  bool operator==(const Packing& other) const;

  /// Returns the type of values.
  ElementType value_type() const;
};

/// Unpacked values are native elements of one type that holds the values of several packings
/// exactly.
struct UnpackedValues {
  ElementType type = ElementType::f64;  ///< f32, f64, i64 or u64
  /// The value, as value_bits(), that stands for elements that a packing leaves out; nothing where
  /// none may.
  std::optional<std::uint64_t> left_out = {};
};

/// Returns what holds the values of all packings; nothing where no type does.
std::optional<UnpackedValues> unpacked_values(std::span<const Packing> packings);

/// Unpacks elements. Returns false where one that counts has the value of those that are left out.
bool unpack(const Packing& packing, const UnpackedValues& form, std::span<const std::byte> stored,
            std::span<std::byte> values);

}  // namespace warpfold
