#ifndef WARPFOLD_WARPFOLD_H
#define WARPFOLD_WARPFOLD_H

#include <mpi.h>
#include <stdint.h>

/** @file
   Reproducible sums, extrema and running sums of arrays that MPI ranks hold in host memory, in C:
   what HostCollectives (host_collectives.hpp) does, where there is more on each.

   Functions are collective: every rank of the communicator calls them with the same type and number
   of fields; elements and their number are each rank's own. They return WARPFOLD_OK or, all ranks
   alike, the code of an error that warpfold_error_message() words; results are then unspecified.
   Results are the same bits on every rank and for any number of ranks.

   `x` has `n` elements of `type`. `mask` has as many bytes, and the elements whose byte is 0 are
   skipped; NULL selects all. Sums and extrema of floats (WARPFOLD_F32 as well) are doubles, the
   nearest to the true values; those of integers are int64_t, and one beyond that is an error. */

#ifdef __cplusplus
extern "C" {
#endif

/** What functions return. */
enum warpfold_status {
  WARPFOLD_OK = 0,
  WARPFOLD_FAILED = 1,
  WARPFOLD_USAGE = 2 /**< wrong arguments */
};

/** Types of elements: float, double, int32_t and int64_t. */
enum warpfold_type { WARPFOLD_F32 = 0, WARPFOLD_F64 = 1, WARPFOLD_I32 = 2, WARPFOLD_I64 = 3 };

/** A communicator and scratch memory, kept between calls. Serves one call at a time. */
typedef struct warpfold_collectives warpfold_collectives;

/** Makes one over a duplicate of a communicator. */
int warpfold_create(MPI_Comm communicator, warpfold_collectives** made);

/** Makes one over a duplicate of a communicator, given by its Fortran handle. */
int warpfold_create_f(MPI_Fint communicator, warpfold_collectives** made);

/** Frees what `*collectives` points to, on all ranks or after MPI_Finalize, and makes it NULL. */
int warpfold_free(warpfold_collectives** collectives);

/** Returns what went wrong in this thread's last call that returned an error, in one line; valid
   until the next such call. */
const char* warpfold_error_message(void);

/** Sums elements. */
int warpfold_sum(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* sum);

/** Sums `fields` fields of `n` elements each, one after another in `x`, by one message, to as many
   `sums`. All have the one mask. */
int warpfold_sums(warpfold_collectives* collectives, int type, uint64_t fields, const void* x,
                  uint64_t n, const unsigned char* mask, void* sums);

/** Sums products x[i] * y[i], which are not rounded. */
int warpfold_dot(warpfold_collectives* collectives, int type, const void* x, const void* y,
                 uint64_t n, const unsigned char* mask, void* sum);

/** Sums the products of each of `fields` fields, as warpfold_sums() sums elements. */
int warpfold_dots(warpfold_collectives* collectives, int type, uint64_t fields, const void* x,
                  const void* y, uint64_t n, const unsigned char* mask, void* sums);

/** Finds the minimum of all elements that the mask selects: NaN where any is. Returns
   WARPFOLD_FAILED where there are none. */
int warpfold_min(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* minimum);

/** Finds the maximum, as warpfold_min() finds the minimum. */
int warpfold_max(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* maximum);

/** Writes running sums over all ranks' elements, in rank order, without the element itself where
   `exclusive` is not 0: each the exact sum, rounded once. `prefixes` has `n` float, double or (of
   integers) int64_t; it may be `x` where elements are as wide. */
int warpfold_scan(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                  int exclusive, void* prefixes);

/** Takes part with a mistake in whatever other ranks call: returns WARPFOLD_USAGE on all of them,
   with `problem` and a full stop as the message. */
int warpfold_refuse(warpfold_collectives* collectives, const char* problem);

#ifdef __cplusplus
}
#endif

#endif
