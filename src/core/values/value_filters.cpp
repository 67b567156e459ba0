#include "core/values/value_filters.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/text.hpp"
#include "core/numeric/exact_number.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

constexpr std::uint64_t last_key = ~std::uint64_t{0};

struct KeyRange {
  std::uint64_t first = 0;
  std::uint64_t last = last_key;
};

const KeyRange finite_doubles{ordered_key(std::numeric_limits<double>::lowest()),
                              ordered_key(std::numeric_limits<double>::max())};
const KeyRange infinite_doubles{ordered_key(-std::numeric_limits<double>::infinity()),
                                ordered_key(std::numeric_limits<double>::infinity())};

Value value_of_key(std::uint64_t key, ElementType type) {
  return value_of_bits(bits_of_key(key, type), type);
}

/// Returns the value of an integer or a finite double.
ScaledInteger scaled(const Value& value) {
  const auto* integer = std::get_if<int128>(&value);
  if (integer == nullptr) return scaled_integer(std::get<double>(value));
  const bool negative = *integer < 0;
  return {static_cast<std::uint64_t>(negative ? -*integer : *integer), 0, negative};
}

/// Place of a number among the keys of a type's values: `at_least` is the first key not less than
/// it, `above` the first greater one; none where there is no such key.
struct Place {
  std::optional<std::uint64_t> at_least;
  std::optional<std::uint64_t> above;

  /// Returns the key of the value that equals it. (Below the key of zero there is one that none
  /// has.)
  std::optional<std::uint64_t> equal() const {
    if (!at_least || at_least == above) return std::nullopt;
    return above ? *above - 1 : *at_least;
  }
};

/// Returns the first key of `keys` for which `reached`, which once true stays so.
template <class Reached>
std::optional<std::uint64_t> first_key(KeyRange keys, Reached&& reached) {
  if (!reached(keys.last)) return std::nullopt;
  while (keys.first < keys.last) {
    const std::uint64_t middle = keys.first + (keys.last - keys.first) / 2;
    if (reached(middle))
      keys.last = middle;
    else
      keys.first = middle + 1;
  }
  return keys.first;
}

Place place_of_infinity(bool negative, ElementType type) {
  if (!is_floating(type)) {
    if (negative) return {0, 0};
    return {};
  }
  if (negative) return {infinite_doubles.first, infinite_doubles.first + 1};
  return {infinite_doubles.last, std::nullopt};
}

Place place_of(const ExactNumber& number, ElementType type) {
  if (number.infinite()) return place_of_infinity(number.negative(), type);
  const KeyRange keys = is_floating(type) ? finite_doubles : KeyRange{};
  Place place;
  place.at_least = first_key(
      keys, [&](auto key) { return number.compare(scaled(value_of_key(key, type))) <= 0; });
  place.above = first_key(
      keys, [&](auto key) { return number.compare(scaled(value_of_key(key, type))) < 0; });
  // Above all finite doubles there is one more.
  if (is_floating(type)) {
    if (!place.at_least) place.at_least = infinite_doubles.last;
    if (!place.above) place.above = infinite_doubles.last;
  }
  return place;
}

/// Values that are left, as conditions take away more and more.
class RemainingValues {
 public:
  explicit RemainingValues(ElementType type) : type_(type) {}

  void select_from(std::optional<std::uint64_t> first) {
    nan_ = false;
    if (first)
      keys_.first = std::max(keys_.first, *first);
    else
      empty_ = true;
  }

  void select_before(std::optional<std::uint64_t> end) {
    nan_ = false;
    if (end == 0)
      empty_ = true;
    else if (end)
      keys_.last = std::min(keys_.last, *end - 1);
  }

  void select_equal(std::optional<std::uint64_t> key) {
    select_from(key);
    if (key) keys_.last = std::min(keys_.last, *key);
  }

  void leave_out(std::optional<std::uint64_t> key) {
    if (key && std::find(left_out_.begin(), left_out_.end(), *key) == left_out_.end())
      left_out_.push_back(*key);
  }

  void leave_out_nan() { nan_ = false; }

  void select_nan() { nan_ = true; }

  void select_nan_alone() { empty_ = true; }

  void select_finite() {
    if (!is_floating(type_)) return;
    select_from(finite_doubles.first);
    select_before(infinite_doubles.last);
  }

  void select_infinite() {
    nan_ = false;
    if (is_floating(type_))
      infinite_alone_ = true;
    else
      empty_ = true;
  }

  /// Throws an Error for too many single values that are left out.
  ValueFilter filter() const {
    ValueFilter filter;
    filter.nan = nan_ || !is_floating(type_);
    if (infinite_alone_) {
      set_infinite(filter);
      return filter;
    }
    if (empty_ || keys_.first > keys_.last) {
      set_none(filter);
      return filter;
    }
    filter.minimum = keys_.first;
    filter.maximum = keys_.last;
    for (const std::uint64_t key : left_out_)
      if (key >= keys_.first && key <= keys_.last) add_left_out(filter, key);
    return filter;
  }

 private:
  static void set_none(ValueFilter& filter) {
    filter.minimum = filter.maximum = filter.excluded[0] = 0;
    filter.excluded_count = 1;
  }

  bool selects(std::uint64_t key) const {
    return !empty_ && key >= keys_.first && key <= keys_.last &&
           std::find(left_out_.begin(), left_out_.end(), key) == left_out_.end();
  }

  void set_infinite(ValueFilter& filter) const {
    const bool negative = selects(infinite_doubles.first);
    const bool positive = selects(infinite_doubles.last);
    if (!negative && !positive) return set_none(filter);
    filter.minimum = positive ? infinite_doubles.last : infinite_doubles.first;
    filter.maximum = negative ? infinite_doubles.first : infinite_doubles.last;
  }

  static void add_left_out(ValueFilter& filter, std::uint64_t key) {
    if (filter.excluded_count == ValueFilter::max_excluded)
      throw usage_error("too many single values are excluded",
                        "more than " + std::to_string(ValueFilter::max_excluded),
                        "Exclude ranges by < and >.");
    filter.excluded[filter.excluded_count++] = key;
  }

  ElementType type_;
  KeyRange keys_;
  std::vector<std::uint64_t> left_out_;
  bool nan_ = true;
  bool empty_ = false;  ///< but for NaN
  bool infinite_alone_ = false;
};

/// Returns the double that is nearest to a number, or the one of the two around it with an odd last
/// bit, which rounds on to any narrower type as the number itself does.
double rounded(const ExactNumber& number, Rounding rounding) {
  const double sign = number.negative() ? -1 : 1;
  if (number.infinite()) return sign * std::numeric_limits<double>::infinity();
  const auto magnitude = [&](std::uint64_t bits) {
    ScaledInteger value = scaled_integer(std::bit_cast<double>(bits));
    value.negative = number.negative();
    return value;
  };
  const auto beyond = [&](std::uint64_t bits) {
    const auto order = number.compare(magnitude(bits));
    return number.negative() ? order > 0 : order < 0;
  };
  const auto maximum = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::max());
  std::uint64_t bits = first_key({1, maximum}, beyond).value_or(maximum + 1) - 1;
  if (number.compare(magnitude(bits)) == 0) return sign * std::bit_cast<double>(bits);
  if (rounding == Rounding::odd) return sign * std::bit_cast<double>(bits | 1);
  const auto half = number.compare_with_midpoint_above(magnitude(bits));
  if (half > 0 || (half == 0 && bits % 2 != 0)) ++bits;
  return sign * std::bit_cast<double>(bits);
}

/// Returns the key of the value of a floating-point type that is nearest to a double; none where
/// that is infinite and the double is not.
std::optional<std::uint64_t> nearest_key(double value, ElementType type) {
  return visit_element_type(type, [&](auto element) -> std::optional<std::uint64_t> {
    using T = decltype(element);
    double nearest = value;
    if constexpr (std::is_same_v<T, float>)
      nearest = static_cast<float>(value);
    else if constexpr (is_floating_element<T> && !std::is_same_v<T, double>)
      nearest = T::from_double(value).to_float();
    if (std::isinf(nearest) && !std::isinf(value)) return std::nullopt;
    return ordered_key(nearest);
  });
}

/// Returns the key of the value nearest to a number; none where that is infinite and the number is
/// not.
std::optional<std::uint64_t> nearest_key(const ExactNumber& number, ElementType type) {
  const double value =
      rounded(number, type == ElementType::f64 ? Rounding::nearest : Rounding::odd);
  if (std::isinf(value) && !number.infinite()) return std::nullopt;
  return nearest_key(value, type);
}

bool means_nan(std::string_view text) {
  const auto is = [text](std::string_view name) {
    return std::equal(text.begin(), text.end(), name.begin(), name.end(),
                      [](char a, char b) { return (a | ('a' ^ 'A')) == b; });
  };
  return is("nan");
}

/// Quotes what the user wrote, of longer texts the beginning.
std::string quoted(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string quoted(1, '\'');
  quoted += text.substr(0, most);
  return quoted += text.size() > most ? "...'" : "'";
}

/// Says why a text is no number.
std::string no_number(std::string_view text, const std::string& otherwise) {
  if (text.size() <= ExactNumber::max_characters) return otherwise;
  std::string why = "its number has more than ";
  why += std::to_string(ExactNumber::max_characters);
  return why += " characters";
}

[[noreturn]] void throw_bad_condition(std::string_view text, const std::string& why) {
  throw usage_error("bad condition " + quoted(text), why,
                    "Give one of <, <=, >, >=, ==, != and a number or nan, such as '>=1e3' or "
                    "'!=nan', or one of finite, inf, nan; the name of another dataset may come "
                    "before it.");
}

/// A comparison is a relation and what follows it.
struct Comparison {
  std::string_view relation;
  std::string_view operand;
};

Comparison split(std::string_view text) {
  for (const std::string_view relation : {"<=", ">=", "==", "!=", "<", ">"})
    if (text.starts_with(relation)) return {relation, trimmed(text.substr(relation.size()))};
  throw_bad_condition(text, text.empty() ? "it is empty" : "it begins with no relation");
}

void compare_with_nan(RemainingValues& values, std::string_view relation, std::string_view text) {
  if (relation == "==")
    values.select_nan_alone();
  else if (relation == "!=")
    values.leave_out_nan();
  else
    throw_bad_condition(text, "nothing is less or greater than NaN");
}

void compare_with_number(RemainingValues& values, std::string_view relation, const Place& place) {
  if (relation == "<") values.select_before(place.at_least);
  if (relation == "<=") values.select_before(place.above);
  if (relation == ">") values.select_from(place.above);
  if (relation == ">=") values.select_from(place.at_least);
  if (relation == "==") values.select_equal(place.equal());
  if (relation == "!=") values.leave_out(place.equal());
}

bool is_decimal(std::string_view text) { return text.find_first_of("xX") == text.npos; }

/// Returns what a literal stands for beside values of a type: a decimal for the nearest
/// floating-point one, unless it is beyond all finite ones.
ExactNumber meant_number(const ExactNumber& number, std::string_view text, ElementType type) {
  if (!is_floating(type) || !is_decimal(text) || number.infinite()) return number;
  const std::optional<std::uint64_t> key = nearest_key(number, type);
  return key ? ExactNumber(scaled(value_of_key(*key, type))) : number;
}

void apply(RemainingValues& values, std::string_view condition, ElementType type) {
  const std::string_view text = trimmed(condition);
  if (text == "finite") return values.select_finite();
  if (text == "inf") return values.select_infinite();
  if (text == "nan") return values.select_nan_alone();
  const auto [relation, operand] = split(text);
  if (means_nan(operand)) return compare_with_nan(values, relation, text);
  const auto number = ExactNumber::parse(operand);
  if (!number)
    throw_bad_condition(text, operand.find_first_of("<>=!&|", 1) == std::string_view::npos
                                  ? no_number(operand, "no number follows its relation")
                                  : "it is more than one: each has a `where` of its own");
  const ExactNumber meant = meant_number(*number, operand, type);
  compare_with_number(values, relation, place_of(meant, type));
}

std::optional<std::uint64_t> key_of_fill(const ExactNumber& number, ElementType type) {
  if (is_floating(type)) return nearest_key(number, type);
  const std::optional<std::uint64_t> key = place_of(number, type).equal();
  if (!key) return std::nullopt;
  const bool held = visit_element_type(type, [&](auto element) {
    if constexpr (std::is_integral_v<decltype(element)>) {
      using Limits = std::numeric_limits<decltype(element)>;
      return *key >= ordered_key(Limits::min()) && *key <= ordered_key(Limits::max());
    }
    return true;
  });
  return held ? key : std::nullopt;
}

ExactNumber exact(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && std::isinf(*number))
    return *ExactNumber::parse(*number < 0 ? "-inf" : "inf");
  return ExactNumber(scaled(value));
}

std::optional<std::uint64_t> key_of_fill(const Value& value, ElementType type) {
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && is_floating(type)) return nearest_key(*number, type);
  return key_of_fill(exact(value), type);
}

}  // namespace

bool is_nan(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && std::isnan(*number);
}

ValueFilter filter_of_conditions(std::span<const std::string> conditions, ElementType type) {
  RemainingValues values(type);
  for (const std::string& condition : conditions) apply(values, condition, type);
  return values.filter();
}

std::optional<Value> held_value(const Value& number, ElementType type, bool taken_as_unsigned) {
  if (is_nan(number)) return is_floating(type) ? std::optional(number) : std::nullopt;
  if (const auto key = key_of_fill(number, type)) return value_of_key(*key, type);
  const auto with_sign = taken_as_unsigned ? held_value(number, ElementType::i64) : std::nullopt;
  if (!with_sign) return std::nullopt;
  const int128 all = int128{1} << 8 * size_of(type);
  const int128 value = std::get<int128>(*with_sign) + all;
  return value >= all / 2 && value < all ? std::optional<Value>(value) : std::nullopt;
}

bool is_number(std::string_view text) { return means_nan(text) || ExactNumber::parse(text); }

Value parse_fill_value(std::string_view text, ElementType type) {
  const std::string problem = "bad fill value " + quoted(text);
  if (!is_number(text))
    throw usage_error(problem, no_number(text, "it is not a number"),
                      "Give a number or nan, auto for the dataset's attributes, or none.");
  if (means_nan(text) && is_floating(type)) return std::numeric_limits<double>::quiet_NaN();
  const auto key = means_nan(text) ? std::nullopt : key_of_fill(*ExactNumber::parse(text), type);
  if (!key)
    throw usage_error(problem,
                      "the dataset's type " + std::string(name_of(type)) + " cannot hold it",
                      "Give a value that the dataset's elements can have.");
  return value_of_key(*key, type);
}

ValueFilter filter_of_stored(std::span<const Value> left_out, const Value& minimum,
                             const Value& maximum, ElementType type) {
  const auto is_bound = [](const Value& value) {
    return !std::holds_alternative<std::monostate>(value);
  };
  RemainingValues values(type);
  if (is_bound(minimum)) values.select_from(place_of(exact(minimum), type).at_least);
  if (is_bound(maximum)) values.select_before(place_of(exact(maximum), type).above);
  values.select_nan();
  for (const Value& value : left_out) {
    if (is_nan(value))
      values.leave_out_nan();
    else
      values.leave_out(key_of_fill(value, type));
  }
  return values.filter();
}

}  // namespace warpfold
