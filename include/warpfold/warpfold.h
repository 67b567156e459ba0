#ifndef WARPFOLD_WARPFOLD_H
#define WARPFOLD_WARPFOLD_H

#include <mpi.h>
#include <stdint.h>

/** @file
   Reproducible sums, extrema and running sums of arrays that MPI ranks hold in host memory, in C:
   what HostCollectives (host_collectives.hpp) does, where there is more on each. And reductions and
   scans of files (warpfold_request).

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

/** Frees what `*collectives` points to, on all ranks before MPI_Finalize, and makes it NULL. */
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

/** A reduction or a scan of a dataset in an HDF5 file, with the options of the command's page by
   their names, and its results by theirs. Serves one call at a time. */
typedef struct warpfold_request warpfold_request;

/** Makes one of "reduce" or "scan". Not collective, as the functions below but for
   warpfold_request_run(). */
int warpfold_request_create(const char* command, warpfold_request** made);

/** Gives it an option: "ops", "mean,max" for `--ops mean,max`. `value` is NULL for options without
   one. Options are checked when it is run. */
int warpfold_request_set(warpfold_request* request, const char* option, const char* value);

/** Runs it on a dataset; again as often as wanted. Collective over `communicator`: all ranks have
   given it the same options, or get an error. Errors are the same on all of them. */
int warpfold_request_run(warpfold_request* request, MPI_Comm communicator, const char* file,
                         const char* dataset);

/** Runs it over a communicator given by its Fortran handle. */
int warpfold_request_run_f(warpfold_request* request, MPI_Fint communicator, const char* file,
                           const char* dataset);

/** Gets a result of the last run, on any rank: a statistic or a quantile by its name in "ops" (with
   "by" and no output, "LABEL:NAME"), or of a scan "last". Returns WARPFOLD_FAILED where it is not a
   floating-point number. */
int warpfold_request_real(const warpfold_request* request, const char* name, double* value);

/** Gets an integer result, likewise: also "count" of a scan. Returns WARPFOLD_FAILED for others,
   and for one beyond int64_t. */
int warpfold_request_integer(const warpfold_request* request, const char* name, int64_t* value);

/** Gets the name of the dataset in the output file that has a statistic along axes, or by its name
   "output" the one of a scan; or the digits of an integer. Valid until the next run. */
int warpfold_request_text(const warpfold_request* request, const char* name, const char** text);

/** Frees what `*request` points to and makes it NULL. */
int warpfold_request_free(warpfold_request** request);

#ifdef __cplusplus
}
#endif

#endif
