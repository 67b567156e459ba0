#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/values/byte_order.hpp"
#include "io/filters/packed_bits.hpp"
#include "io/filters/steps.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::io {
namespace {

/// A kind of elements.
constexpr unsigned numbers = 1;

struct Nbit {
  std::size_t elements;
  ByteOrder order;
  unsigned bits;    ///< significant ones of an element
  unsigned offset;  ///< bits below them
};

template <class Bits>
class NbitStep : public FilterStep {
 public:
  explicit NbitStep(Nbit how) : how_(how) {}

  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> out) override {
    if (how_.elements > out.size() / sizeof(Bits)) throw DamagedBytes{"it is longer than a chunk"};
    const bool swapped = how_.order != native_byte_order;
    PackedBits(stored, how_.bits, how_.elements).for_each([&](std::size_t i, std::uint64_t bits) {
      auto element = static_cast<Bits>(bits << how_.offset);
      if (swapped) element = reversed_bytes(element);
      std::memcpy(out.data() + i * sizeof(Bits), &element, sizeof element);
    });
    return out.first(how_.elements * sizeof(Bits));
  }

 private:
  Nbit how_;
};

std::unique_ptr<FilterStep> make_step_of(Nbit how, std::size_t bytes) {
  if (bytes == 1) return std::make_unique<NbitStep<std::uint8_t>>(how);
  if (bytes == 2) return std::make_unique<NbitStep<std::uint16_t>>(how);
  if (bytes == 4) return std::make_unique<NbitStep<std::uint32_t>>(how);
  if (bytes == 8) return std::make_unique<NbitStep<std::uint64_t>>(how);
  return nullptr;
}

}  // namespace

/// The filter has: how many parameters it has, whether all bits are significant, elements of a
/// chunk, their kind; of numbers: bytes, byte order, significant bits, bits below them.
std::unique_ptr<FilterStep> make_nbit_step(const Filter& filter) {
  const auto at = [&](std::size_t place) { return parameter(filter, place); };
  if (at(0) != filter.parameters.size()) return nullptr;
  if (at(1) != 0) return make_idle_step();
  const std::uint64_t bytes = at(4);
  const std::uint64_t bits = at(6);
  if (at(3) != numbers || bits == 0 || bits + at(7) > 8 * bytes) return nullptr;
  return make_step_of({at(2), at(5) == 1 ? ByteOrder::big : ByteOrder::little, at(6), at(7)},
                      bytes);
}

}  // namespace warpfold::io
