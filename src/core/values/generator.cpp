#include "core/values/generator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/text.hpp"
#include "core/numeric/fixed_point.hpp"
#include "core/values/byte_order.hpp"
#include "core/values/generated_elements.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold {
namespace {

/// Stores element(0), element(1), ... in `out`.
template <class T, class Element>
void store(ElementRange range, ByteOrder order, std::span<std::byte> out, Element&& element) {
  std::byte* at = out.data();
  const auto put = [&at](T value) {
    std::memcpy(at, &value, sizeof(T));
    at += sizeof(T);
  };
  if (order == native_byte_order) {
    for (std::uint64_t i = range.first; i < range.end(); ++i) put(element(i));
  } else {
    for (std::uint64_t i = range.first; i < range.end(); ++i) put(byte_swapped<T>(element(i)));
  }
}

/// An indexed generator makes elements that are a function of their index.
template <class T, class Element>
class IndexedGenerator : public Generator {
 public:
  IndexedGenerator(ByteOrder order, Element element) : order_(order), element_(element) {}

  void fill(ElementRange range, std::span<std::byte> out) override {
    store<T>(range, order_, out, element_);
  }

 private:
  ByteOrder order_;
  Element element_;
};

template <class T, class Element>
std::unique_ptr<Generator> indexed(const GeneratorSpec& spec, Element element) {
  return std::make_unique<IndexedGenerator<T, Element>>(spec.format.order, element);
}

/// A sequential generator makes each number from the one before. Ranges in any order cost little
/// more than ascending ones: marks are set on the way, to return to.
class MarkedSequence {
 public:
  explicit MarkedSequence(std::uint64_t seed) : sequence_(seed), marks_{sequence_} {}

  /// Makes next() draw the number at `index`.
  void go_to(std::uint64_t index) {
    const std::uint64_t mark = std::min<std::uint64_t>(index / interval_, marks_.size() - 1);
    if (index < position_ || mark * interval_ > position_) {
      sequence_ = marks_[mark];
      position_ = mark * interval_;
    }
    while (position_ < index) next();
  }

  std::uint32_t next() {
    const std::uint32_t drawn = sequence_();
    if (++position_ == marks_.size() * interval_) set_mark();
    return drawn;
  }

 private:
  static constexpr std::size_t max_marks = 1 << 16;

  void set_mark() {
    marks_.push_back(sequence_);
    if (marks_.size() < max_marks) return;
    for (std::size_t i = 0; i < marks_.size() / 2; ++i) marks_[i] = marks_[2 * i];
    marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(marks_.size() / 2), marks_.end());
    interval_ *= 2;
  }

  generated::MiddleSquareWeyl sequence_;
  std::uint64_t position_ = 0;  ///< index of the number that is drawn next
  std::uint64_t interval_ = 4096;
  std::vector<generated::MiddleSquareWeyl> marks_;  ///< the sequence before each interval
};

template <class T>
class MswsGenerator : public Generator {
 public:
  explicit MswsGenerator(const GeneratorSpec& spec)
      : order_(spec.format.order), sequence_(spec.seed) {}

  void fill(ElementRange range, std::span<std::byte> out) override {
    sequence_.go_to(range.first);
    store<T>(range, order_, out, [this](std::uint64_t) { return element(sequence_.next()); });
  }

 private:
  static T element(std::uint32_t bits) {
    if constexpr (is_floating_element<T>)
      return generated::rounded_to<T>(static_cast<double>(bits) * 0x1p-32);
    else
      return static_cast<T>(bits);
  }

  ByteOrder order_;
  MarkedSequence sequence_;
};

Error unsuitable(const GeneratorSpec& spec, const std::string& why, const std::string& suggestion) {
  return usage_error("cannot generate " + std::string(name_of(spec.kind)) + " elements of type " +
                         std::string(name_of(spec.format.type)),
                     why, suggestion);
}

/// Returns `value` as T, unless that changes more than the rounding of a float.
template <class T>
std::optional<T> element_near(double value) {
  if constexpr (is_floating_element<T>) {
    const T rounded = generated::rounded_to<T>(value);
    if (std::isfinite(value) != std::isfinite(widened(rounded))) return std::nullopt;
    return rounded;
  } else {
    // 2^digits is a double, the largest integer of the type need not be.
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double lowest = std::is_signed_v<T> ? -above : 0.0;
    if (!(value >= lowest && value < above) || value != std::trunc(value)) return std::nullopt;
    return static_cast<T>(value);
  }
}

template <class T>
T constant_element(const GeneratorSpec& spec) {
  if (const auto element = element_near<T>(spec.value)) return *element;
  throw unsuitable(spec, "the type cannot hold " + shortest_decimal(spec.value),
                   "Choose another value or another type.");
}

template <class T>
std::unique_ptr<Generator> make_typed(const GeneratorSpec& spec) {
  switch (spec.kind) {
    case GeneratorKind::constant:
      return indexed<T>(spec,
                        [element = constant_element<T>(spec)](std::uint64_t) { return element; });
    case GeneratorKind::iota:
      return indexed<T>(spec, &generated::iota_element<T>);
    case GeneratorKind::uniform:
      return indexed<T>(spec, generated::Uniform<T>(spec.seed));
    case GeneratorKind::normal:
      return indexed<T>(spec, generated::Normal<T>(spec.seed));
    case GeneratorKind::msws:
      return std::make_unique<MswsGenerator<T>>(spec);
    case GeneratorKind::wide:
      return indexed<T>(spec, generated::Wide<T>(spec.seed));
    case GeneratorKind::cancel:
      if constexpr (std::is_unsigned_v<T>)
        throw unsuitable(spec, "unsigned elements don't cancel",
                         "Choose a signed or floating-point type.");
      else
        return indexed<T>(spec, generated::Cancel<T>(spec));
    case GeneratorKind::nan:
      break;
  }
  if constexpr (is_floating_element<T>)
    return indexed<T>(spec, [random = generated::RandomBits(spec.seed)](std::uint64_t index) {
      return generated::nan_element<T>(random(index));
    });
  else
    throw unsuitable(spec, "integers have no NaN", "Choose f16, bf16, f32 or f64.");
}

template <class T>
Value integer_value(int128 sum) {
  if constexpr (!is_floating_element<T>) return sum;
  ExactSum exact{};
  exact.add(sum);
  return exact.rounded();
}

/// Returns the largest index up to which every iota element equals its index.
template <class T>
constexpr std::uint64_t last_exact_index() {
  if constexpr (is_floating_element<T>)
    return std::uint64_t{1} << generated::significand_bits<T>();
  else
    return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
}

template <class T>
Value iota_sum(std::uint64_t elements) {
  if (elements == 0) return integer_value<T>(0);
  if (elements - 1 > last_exact_index<T>()) return {};
  const auto product = static_cast<uint128>(elements) * (elements - 1);
  return integer_value<T>(static_cast<int128>(product / 2));
}

template <class T>
Value constant_sum(const GeneratorSpec& spec) {
  const T element = constant_element<T>(spec);
  if constexpr (is_floating_element<T>) {
    const double value = widened(element);
    if (spec.elements == 0) return 0.0;
    if (!std::isfinite(value)) return value;
    const ScaledInteger scaled = scaled_integer(value);
    ExactSum sum{};
    sum.add(static_cast<uint128>(scaled.magnitude) * spec.elements, scaled.exponent);
    return scaled.negative ? -sum.rounded() : sum.rounded();
  } else {
    int128 sum = 0;
    if (__builtin_mul_overflow(int128{element}, int128{spec.elements}, &sum)) return {};
    return sum;
  }
}

/// Counts the elements of `cancel` that are 1: all others are opposites of one another.
std::uint64_t cancel_ones(std::uint64_t elements) {
  const std::uint64_t half = elements / 2;
  return 2 * (half / 4) + elements % 2;
}

}  // namespace

std::string_view name_of(GeneratorKind kind) {
  constexpr std::string_view names[] = {"constant", "iota", "uniform", "normal",
                                        "msws",     "wide", "cancel",  "nan"};
  return names[static_cast<std::size_t>(kind)];
}

GeneratorKind parse_generator_kind(std::string_view name) {
  if (const auto kind = find_named(all_generator_kinds, name)) return *kind;
  throw usage_error("unknown kind '" + std::string(name) + "' of dataset", "",
                    "Choose from " + listed_names(all_generator_kinds) + ".");
}

std::unique_ptr<Generator> make_generator(const GeneratorSpec& spec) {
  return visit_element_type(spec.format.type,
                            [&spec](auto element) { return make_typed<decltype(element)>(spec); });
}

Value known_sum(const GeneratorSpec& spec) {
  return visit_element_type(spec.format.type, [&spec](auto element) -> Value {
    using T = decltype(element);
    if (spec.kind == GeneratorKind::constant) return constant_sum<T>(spec);
    if (spec.kind == GeneratorKind::iota) return iota_sum<T>(spec.elements);
    if (spec.kind == GeneratorKind::cancel)
      return integer_value<T>(int128{cancel_ones(spec.elements)});
    return {};
  });
}

}  // namespace warpfold
