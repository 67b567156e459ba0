#include "cpu/chunks/element_decoder.hpp"

#include <bit>

#include "cpu/chunks/block_decoder.hpp"

namespace warpfold::cpu {
namespace {

static_assert(block_elements <= std::size_t{1} << 16, "places have 16 bits");

template <class Stored, class Value>
class TypedElementDecoder final : public ElementDecoder {
 public:
  TypedElementDecoder(const Kernels& kernels, ByteOrder order, const Decoding& decoding,
                      std::uint64_t left_out)
      : blocks_(kernels, order),
        decoding_(decoding),
        left_out_(std::bit_cast<Value>(static_cast<Word<Value>>(left_out))) {}

  std::size_t keep(const std::byte* stored, std::size_t n, std::byte* values,
                   std::uint16_t* places) override {
    const Stored* elements = blocks_.native(stored, n);
    auto* kept_values = reinterpret_cast<Value*>(values);
    const Decoding decoding = decoding_;  // that no store can change
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Value value;
      const bool counts = decode(decoding, elements[i], value);
      kept_values[kept] = value;
      places[kept] = static_cast<std::uint16_t>(i);
      kept += counts ? 1 : 0;
    }
    return kept;
  }

  void fill(const std::byte* stored, std::size_t n, std::byte* values) override {
    const Stored* elements = blocks_.native(stored, n);
    auto* all_values = reinterpret_cast<Value*>(values);
    const Decoding decoding = decoding_;
    const Value left_out = left_out_;
    for (std::size_t i = 0; i < n; ++i) {
      Value value;
      const bool counts = decode(decoding, elements[i], value);
      all_values[i] = counts ? value : left_out;
    }
  }

 private:
  BlockDecoder<Stored> blocks_;
  Decoding decoding_;
  Value left_out_;
};

}  // namespace

std::unique_ptr<ElementDecoder> make_element_decoder(const Kernels& kernels, ElementFormat stored,
                                                     const Decoding& decoding,
                                                     std::uint64_t left_out) {
  return visit_element_type(stored.type, [&](auto element) -> std::unique_ptr<ElementDecoder> {
    using Stored = decltype(element);
    const auto make = [&](auto value) -> std::unique_ptr<ElementDecoder> {
      return std::make_unique<TypedElementDecoder<Stored, decltype(value)>>(kernels, stored.order,
                                                                            decoding, left_out);
    };
    return visit_value_of<Stored>(decoding.unpacking, make);
  });
}

}  // namespace warpfold::cpu
