#include "cpu/machine/inexact_flag.hpp"

namespace warpfold::cpu {
namespace {

bool flag_follows_sums() {
  const volatile double large = 1.0;
  const volatile double small = 0x1p-60;
  clear_inexact();
  const volatile double sum = large + small;
  const bool raised = inexact_raised();
  clear_inexact();
  const volatile double exact_sum = sum + sum;
  return raised && !inexact_raised() && exact_sum == 2.0;
}

}  // namespace

bool inexact_is_kept() {
  static const bool kept = flag_follows_sums();
  return kept;
}

}  // namespace warpfold::cpu
