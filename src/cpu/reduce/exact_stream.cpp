#include "cpu/reduce/exact_stream.hpp"

#include <algorithm>
#include <cmath>

namespace warpfold::cpu {
namespace {

/// An accumulator may reach 2^(exponent + 1), which must be finite.
constexpr int highest_exponent = 1022;
constexpr int lowest_exponent = -1022;

/// Spare binary orders above a block's largest term, so that the next block's may be larger.
constexpr int margin = 2;

/// How many blocks go by before fewer levels are tried again.
constexpr int patience = 256;

/// A block that needs more levels than expected costs one extraction in vain: more than every third
/// such block, and it pays to begin with more.
constexpr int strain_of_a_failure = 2;
constexpr int max_strain = 8;

}  // namespace

template <class T>
ExactStream<T>::ExactStream(const Kernels& kernels, Term term)
    : extract_(kernels_of<T>(kernels).extract[static_cast<std::size_t>(term)]),
      headroom_(kernels.headroom),
      plain_behind_(kernels.plain_behind),
      checkable_(!kernels.plain_behind || inexact_is_kept()),
      levels_(inexact_is_kept() ? 0 : 1) {}

template <class T>
int ExactStream<T>::levels_to_begin_with() {
  const int fewest = inexact_is_kept() ? 0 : 1;
  if (++blocks_ >= patience && levels_ > fewest) {
    blocks_ = 0;
    strain_ = max_strain - strain_of_a_failure;
    --levels_;
  }
  return levels_;
}

template <class T>
void ExactStream<T>::learn_from(int levels_needed) {
  if (levels_needed == levels_) {
    strain_ = std::max(0, strain_ - 1);
    return;
  }
  strain_ += strain_of_a_failure;
  if (strain_ < max_strain) return;
  strain_ = 0;
  levels_ = levels_needed;
}

template <class T>
int ExactStream<T>::next_exponent(int exponent) const {
  return std::max(lowest_exponent, exponent - 53 + headroom_);
}

template <class T>
int ExactStream<T>::tight_exponent() const {
  if (extraction_.largest == 0.0) return lowest_exponent;
  return std::max(lowest_exponent, std::ilogb(extraction_.largest) + 1 + headroom_);
}

template <class T>
void ExactStream<T>::extract(const T* x, std::size_t n, int levels) {
  clear_inexact();
  extraction_ = extract_[levels](x, n, exponent_);
  if (levels == 0 || plain_behind_) extraction_.complete = !inexact_raised();
}

template <class T>
typename ExactStream<T>::Attempt ExactStream<T>::try_plain(const T* x, std::size_t n) {
  extract(x, n, 0);
  if (!extraction_.in_range) return Attempt::out_of_range;
  return extraction_.complete ? Attempt::exact : Attempt::imprecise;
}

template <class T>
typename ExactStream<T>::Attempt ExactStream<T>::try_levels(const T* x, std::size_t n, int levels) {
  while (true) {
    extract(x, n, levels);
    if (extraction_.in_range && extraction_.complete) return Attempt::exact;
    if (!std::isfinite(extraction_.largest)) return Attempt::out_of_range;
    const int tight = tight_exponent();
    // A NaN, or no room: not a matter of where the levels lie.
    if (tight > highest_exponent || (!extraction_.in_range && tight <= exponent_))
      return Attempt::out_of_range;
    const int roomy = std::min(highest_exponent, tight + margin);
    if (extraction_.in_range && exponent_ <= roomy) return Attempt::imprecise;
    exponent_ = roomy;
  }
}

template class ExactStream<float>;
template class ExactStream<double>;

}  // namespace warpfold::cpu
