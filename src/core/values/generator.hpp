#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

enum class GeneratorKind : std::uint8_t {
  constant,  ///< one value
  iota,      ///< the flat index, modulo 2^width in integers, rounded in floats
  uniform,   ///< floats in [0, 1); 8- and 16-bit integers of full range, wider ones of 32 bits
  normal,    ///< mean 0, standard deviation 1; integers: 1000 times that, rounded and saturated
  msws,      ///< Widynski's Middle Square Weyl Sequence; floats: divided by 2^32
  wide,      ///< random signs and magnitudes over many binary orders
  cancel,    ///< huge elements, each with its opposite elsewhere, and ones in between
  nan        ///< uniform, one in a thousand NaN
};

inline constexpr GeneratorKind all_generator_kinds[] = {
    GeneratorKind::constant, GeneratorKind::iota, GeneratorKind::uniform, GeneratorKind::normal,
    GeneratorKind::msws,     GeneratorKind::wide, GeneratorKind::cancel,  GeneratorKind::nan};

std::string_view name_of(GeneratorKind kind);

/// Throws a usage Error that lists the kinds.
GeneratorKind parse_generator_kind(std::string_view name);

struct GeneratorSpec {
  GeneratorKind kind = GeneratorKind::uniform;
  ElementFormat format;
  std::uint64_t elements = 0;
  std::uint64_t seed = 1;  ///< 1 gives `msws` its published constant
  double value = 1.0;      ///< value of `constant`
};

/// Makes the elements of a dataset with known properties.
class Generator {
 public:
  virtual ~Generator() = default;

  /// Fills `out` with the elements of `range` in the spec's format.
  virtual void fill(ElementRange range, std::span<std::byte> out) = 0;
};

/// Throws a usage Error for a kind the element type can't have (NaN in integers, say).
std::unique_ptr<Generator> make_generator(const GeneratorSpec& spec);

/// Returns the exact sum of all elements where it has a closed form, else nothing; for floats
/// rounded once.
Value known_sum(const GeneratorSpec& spec);

}  // namespace warpfold
