#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/values/byte_order.hpp"
#include "io/filters/packed_bits.hpp"
#include "io/filters/steps.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t all_parameters = 20;
constexpr std::size_t bits_bytes = 4;
constexpr std::size_t header_bytes = 21;
/// Scale types.
constexpr unsigned by_decimals = 0;
constexpr unsigned by_nothing = 2;

struct ScaleOffset {
  int decimals;  ///< floats were multiplied by that power of ten
  std::size_t elements;
  ByteOrder order;
  bool has_fill;
  std::uint64_t fill;
};

ScaleOffset scale_offset(const Filter& filter) {
  const auto at = [&](std::size_t place) { return parameter(filter, place); };
  return {static_cast<int>(at(1)), at(2), at(6) == 1 ? ByteOrder::big : ByteOrder::little,
          at(7) == 1, at(8) | std::uint64_t{at(9)} << 32};
}

std::uint64_t number_in(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

/// T: integers without a sign, as all are added modulo 2^n, or floats.
template <class T>
class ScaleOffsetStep : public FilterStep {
 public:
  explicit ScaleOffsetStep(ScaleOffset how) : how_(how) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    if (how_.elements > out.size() / sizeof(T)) throw DamagedBytes{"it is longer than a chunk"};
    if (stored.size() < header_bytes) throw DamagedBytes{"it is too short for its header"};
    const std::uint64_t bits = number_in(stored.first(bits_bytes));
    const auto least_bytes =
        std::min(std::to_integer<std::size_t>(stored[bits_bytes]), sizeof(std::uint64_t));
    const std::uint64_t least = number_in(stored.subspan(bits_bytes + 1, least_bytes));
    if (bits > element_bits) {
      throw DamagedBytes{"scale-offset: its elements have " + std::to_string(bits) + " bits, not " +
                         std::to_string(element_bits) + " or fewer"};
    }
    const auto bytes = out.first(how_.elements * sizeof(T));
    fill(stored.subspan(header_bytes), static_cast<unsigned>(bits), least, bytes);
    return bytes;
  }

 private:
  using Bits = Word<T>;
  static constexpr unsigned element_bits = 8 * sizeof(T);

  void fill(std::span<const std::byte> packed, unsigned bits, std::uint64_t least,
            std::span<std::byte> out) const {
    const bool swapped = how_.order != native_byte_order;
    const auto store = [&](std::size_t i, Bits element) {
      if (swapped) element = reversed_bytes(element);
      std::memcpy(out.data() + i * sizeof(T), &element, sizeof element);
    };
    if (bits == 0) {
      const Bits element = how_.has_fill ? as<Bits>(how_.fill) : restored(0, least);
      for (std::size_t i = 0; i < how_.elements; ++i) store(i, element);
      return;
    }
    const PackedBits integers(packed, bits, how_.elements);
    if (bits == element_bits) {
      for (std::size_t i = 0; i < how_.elements; ++i) {
        Bits element = 0;
        std::memcpy(&element, packed.data() + i * sizeof(T), sizeof element);
        store(i, native_byte_order == ByteOrder::little ? element : reversed_bytes(element));
      }
    } else if (how_.has_fill) {
      const std::uint64_t marks_fill = ~std::uint64_t{0} >> (64 - bits);
      integers.for_each([&](std::size_t i, std::uint64_t integer) {
        store(i, integer == marks_fill ? as<Bits>(how_.fill) : restored(integer, least));
      });
    } else {
      integers.for_each(
          [&](std::size_t i, std::uint64_t integer) { store(i, restored(integer, least)); });
    }
  }

  /// Has the roundings of HDF5, which divides and adds in T.
  Bits restored(std::uint64_t integer, std::uint64_t least) const {
    if constexpr (std::is_floating_point_v<T>) {
      using Signed = std::make_signed_t<Bits>;
      const T quotient = static_cast<T>(static_cast<Signed>(integer)) / scale_;
      return std::bit_cast<Bits>(quotient + std::bit_cast<T>(as<Bits>(least)));
    } else {
      return as<Bits>(integer + least);
    }
  }

  template <class Integer>
  static Integer as(std::uint64_t value) {
    return static_cast<Integer>(value);
  }

  T power_of_ten() const {
    if constexpr (std::is_floating_point_v<T>)
      return std::pow(T{10}, static_cast<T>(how_.decimals));
    else
      return 1;
  }

  ScaleOffset how_;
  T scale_ = power_of_ten();
};

template <class T>
std::unique_ptr<FilterStep> make_step_of(const Filter& filter) {
  return std::make_unique<ScaleOffsetStep<T>>(scale_offset(filter));
}

std::unique_ptr<FilterStep> make_step_of_floats(const Filter& filter, std::size_t bytes) {
  if (parameter(filter, 0) != by_decimals) return nullptr;
  if (bytes == 4) return make_step_of<float>(filter);
  if (bytes == 8) return make_step_of<double>(filter);
  return nullptr;
}

std::unique_ptr<FilterStep> make_step_of_integers(const Filter& filter, std::size_t bytes) {
  const auto bits = static_cast<std::int64_t>(static_cast<int>(parameter(filter, 1)));
  const auto most_bits = static_cast<std::int64_t>(8 * bytes);
  if (parameter(filter, 0) != by_nothing || bits > most_bits) return nullptr;
  if (bits == most_bits) return make_idle_step();
  if (bytes == 1) return make_step_of<std::uint8_t>(filter);
  if (bytes == 2) return make_step_of<std::uint16_t>(filter);
  if (bytes == 4) return make_step_of<std::uint32_t>(filter);
  if (bytes == 8) return make_step_of<std::uint64_t>(filter);
  return nullptr;
}

}  // namespace

/// The filter has: how it scales, by what, elements of a chunk, whether they are floats, their
/// bytes, sign, byte order, whether there is a fill value, the fill value.
std::unique_ptr<FilterStep> make_scale_offset_step(const Filter& filter) {
  if (filter.parameters.size() != all_parameters) return nullptr;
  const std::size_t bytes = parameter(filter, 4);
  const bool are_floats = parameter(filter, 3) == 1;
  return are_floats ? make_step_of_floats(filter, bytes) : make_step_of_integers(filter, bytes);
}

}  // namespace warpfold::io
