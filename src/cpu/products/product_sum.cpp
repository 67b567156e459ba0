#include "cpu/products/product_sum.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/numeric/exact_product.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/reduce/byte_mask.hpp"
#include "cpu/reduce/exact_stream.hpp"

namespace warpfold::cpu {
namespace {

/// Calls add(elements, factors, n) for each block of those that count.
template <class Stored>
class FieldBlocks {
 public:
  explicit FieldBlocks(const Kernels& kernels)
      : mask_(kernels), x_(kernels, native_byte_order), y_(kernels, native_byte_order) {}

  template <class Add>
  void for_each(const Field& field, Add&& add) {
    const auto* x = static_cast<const std::byte*>(field.elements.data);
    const auto* y = static_cast<const std::byte*>(field.factors->data);
    for (std::uint64_t first = 0; first < field.elements.count; first += block_elements) {
      const std::uint64_t left = field.elements.count - first;
      auto n = static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, left));
      const std::byte* elements = x + first * sizeof(Stored);
      const std::byte* factors = y + first * sizeof(Stored);
      if (field.mask != nullptr) {
        const std::size_t kept = mask_.look_at(field.mask + first, n);
        if (kept < n) {
          elements = packed(elements, n, packed_x_);
          factors = packed(factors, n, packed_y_);
        }
        n = kept;
      }
      if (n > 0) add(x_.decode(elements, n), y_.decode(factors, n), n);
    }
  }

 private:
  const std::byte* packed(const std::byte* from, std::size_t n, Word<Stored>* to) const {
    mask_.pack(reinterpret_cast<const Word<Stored>*>(from), n, to);
    return reinterpret_cast<const std::byte*>(to);
  }

  ByteMask mask_;
  BlockDecoder<Stored> x_;
  BlockDecoder<Stored> y_;
  alignas(64) Word<Stored> packed_x_[block_elements];
  alignas(64) Word<Stored> packed_y_[block_elements];
};

/// Blocks make at most two additions an element.
inline constexpr std::uint64_t normalize_every = std::uint64_t{1} << 14;
static_assert(normalize_every * 2 * block_elements <= std::uint64_t{1} << 30);

template <class Stored>
class FloatProductSum final : public ProductSum {
 public:
  explicit FloatProductSum(const Kernels& kernels)
      : kernels_(kernels),
        blocks_(kernels),
        high_stream_(kernels, Term::value),
        low_stream_(kernels, Term::value) {}

  FieldSum sum(const Field& field) override {
    FieldSum total;
    Finite finite{};
    std::uint64_t blocks = 0;
    blocks_.for_each(field, [&](const T* x, const T* y, std::size_t n) {
      add_block(x, y, n, finite, total);
      if (++blocks % normalize_every == 0) finite.normalize();
    });
    finite.normalize();
    total.finite = finite;
    return total;
  }

 private:
  using T = Decoded<Stored>;
  static constexpr bool wide = sizeof(T) == sizeof(double);

  /// A product of two floats of up to 32 bits is a double.
  using Finite = std::conditional_t<wide, ExactSumOfSquares, ExactSum>;

  void add_block(const T* x, const T* y, std::size_t n, Finite& finite, FieldSum& total) {
    const ProductKinds kinds = multiply(x, y, n);
    if (kinds.inexact) take_apart(x, y, n, finite, total);
    if (!high_stream_.add(high_, n, finite)) {
      if (!kinds.inexact) take_apart(x, y, n, finite, total);
      add_one_by_one(high_, n, finite);
    }
    if (wide && kinds.rest && !low_stream_.add(low_, n, finite)) add_one_by_one(low_, n, finite);
  }

  /// Makes high_ + low_ of the products.
  ProductKinds multiply(const T* x, const T* y, std::size_t n) {
    if constexpr (wide) {
      const std::size_t whole = n - n % padding;
      ProductKinds kinds = kernels_.products(x, y, whole, high_, low_);
      if (whole == n) return kinds;
      alignas(64) double a[padding] = {};
      alignas(64) double b[padding] = {};
      std::copy(x + whole, x + n, a);
      std::copy(y + whole, y + n, b);
      const ProductKinds last = kernels_.products(a, b, padding, high_ + whole, low_ + whole);
      return {kinds.inexact || last.inexact, kinds.rest || last.rest};
    } else {
      for (std::size_t i = 0; i < n; ++i)
        high_[i] = static_cast<double>(x[i]) * static_cast<double>(y[i]);
      return {false, false};
    }
  }

  /// Counts products that are not finite and adds those that two doubles don't hold, and puts 0 in
  /// their place.
  void take_apart(const T* x, const T* y, std::size_t n, Finite& finite, FieldSum& total) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto a = static_cast<double>(x[i]);
      const auto b = static_cast<double>(y[i]);
      if (!std::isfinite(a) || !std::isfinite(b)) {
        count_special(a * b, total);
      } else if (!wide || is_exact_product(a, b)) {
        continue;
      } else {
        finite.add_product(a, b);
      }
      high_[i] = low_[i] = 0.0;
    }
  }

  static void count_special(double product, FieldSum& total) {
    if (std::isnan(product))
      ++total.nan_count;
    else
      ++(product > 0 ? total.positive_infinities : total.negative_infinities);
  }

  static void add_one_by_one(const double* terms, std::size_t n, Finite& finite) {
    for (std::size_t i = 0; i < n; ++i) finite.add(terms[i]);
  }

  static constexpr std::size_t padding = 8;

  const Kernels& kernels_;
  FieldBlocks<Stored> blocks_;
  ExactStream<double> high_stream_;
  ExactStream<double> low_stream_;
  alignas(64) double high_[block_elements];
  alignas(64) double low_[block_elements];
};

template <class T>
class IntegerProductSum final : public ProductSum {
 public:
  explicit IntegerProductSum(const Kernels& kernels) : blocks_(kernels) {}

  FieldSum sum(const Field& field) override {
    ExactSum total{};
    std::uint64_t blocks = 0;
    blocks_.for_each(field, [&](const T* x, const T* y, std::size_t n) {
      add_block(x, y, n, total);
      if (++blocks % normalize_every == 0) total.normalize();
    });
    total.normalize();
    FieldSum result;
    result.finite = total;
    return result;
  }

 private:
  using Wide = std::conditional_t<std::is_signed_v<T>, int128, uint128>;

  static void add_block(const T* x, const T* y, std::size_t n, ExactSum& total) {
    Wide running = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Wide product = static_cast<Wide>(x[i]) * static_cast<Wide>(y[i]);
      Wide next = 0;
      if (__builtin_add_overflow(running, product, &next)) {
        add(running, total);
        next = product;
      }
      running = next;
    }
    add(running, total);
  }

  static void add(int128 value, ExactSum& total) { total.add(value); }
  static void add(uint128 value, ExactSum& total) { total.add(value, 0); }

  FieldBlocks<T> blocks_;
};

}  // namespace

std::unique_ptr<ProductSum> make_product_sum(const Kernels& kernels, ElementType type) {
  return visit_element_type(type, [&](auto element) -> std::unique_ptr<ProductSum> {
    using Stored = decltype(element);
    if constexpr (is_floating_element<Stored>)
      return std::make_unique<FloatProductSum<Stored>>(kernels);
    else
      return std::make_unique<IntegerProductSum<Stored>>(kernels);
  });
}

}  // namespace warpfold::cpu
