#pragma once

#ifdef __SSE2__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

/// IEEE 754's sticky flag that says whether any operation of this thread rounded.
///
/// Compilers don't order arithmetic against it: what is watched must be a call they can't see into,
/// or be volatile.
namespace warpfold::cpu {

#ifdef __SSE2__

inline bool inexact_raised() { return (_mm_getcsr() & _MM_EXCEPT_INEXACT) != 0; }

/// Writes the flag only where it is raised: it is dear to write and cheap to read.
inline void clear_inexact() {
  if (inexact_raised()) _mm_setcsr(_mm_getcsr() & ~static_cast<unsigned>(_MM_EXCEPT_INEXACT));
}

#else

inline bool inexact_raised() { return std::fetestexcept(FE_INEXACT) != 0; }
inline void clear_inexact() { std::feclearexcept(FE_INEXACT); }

#endif

/// Returns whether this machine (or its emulator) keeps the flag at all.
inline bool inexact_is_kept() {
  static const bool kept = [] {
    const volatile double large = 1.0;
    const volatile double small = 0x1p-60;
    clear_inexact();
    const volatile double sum = large + small;
    const bool raised = inexact_raised();
    clear_inexact();
    const volatile double exact_sum = sum + sum;
    return raised && !inexact_raised() && exact_sum == 2.0;
  }();
  return kept;
}

}  // namespace warpfold::cpu
