#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpfold {

/// The part of an axis that makes one output: a number of consecutive indices, or the indices whose
/// times are in one window of the calendar.
struct Every {
  /// Takes a number of consecutive indices, 0 for all.
  Every(std::uint64_t count = 0) : indices(count) {}  // NOLINT(google-explicit-constructor)

  /// Takes "year", "season", "month", "day", "N years", "N months", "N days", or "N hours", where
  /// 24 is a multiple of N.
  template <std::convertible_to<std::string_view> Text>
  Every(const Text& text) : window(std::string_view(text)) {}  // NOLINT

  /// Returns the number of indices, 0 for windows: in version 1.0 the option was this number.
  operator std::uint64_t() const { return indices; }  // NOLINT(google-explicit-constructor)

  std::uint64_t indices = 0;  ///< 0: all, or those of a window
  std::string window;         ///< empty: none

  /// Returns whether the axis is divided into parts.
  bool is_given() const { return indices > 0 || !window.empty(); }
};

}  // namespace warpfold
