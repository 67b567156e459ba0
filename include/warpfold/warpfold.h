#ifndef WARPFOLD_WARPFOLD_H
#define WARPFOLD_WARPFOLD_H

#include <mpi.h>
#include <stdint.h>

/** @file
   C interface for reproducible sums, extrema and running sums of arrays that MPI ranks hold in host
   memory (HostCollectives in host_collectives.hpp describes them), and for reductions and scans of
   files (warpfold_request).

   Functions are collective: every rank of the communicator calls them with the same type and number
   of fields; elements and their number differ between ranks. They return WARPFOLD_OK or, on all
   ranks, the same error code; warpfold_error_message() has the text, and results are unspecified.
   Results have the same bits on every rank and for any number of ranks.

   `x` has `n` elements of `type`. `mask` has `n` bytes, and elements whose byte is 0 are skipped;
   NULL selects all. Sums and extrema of floats (also of WARPFOLD_F32) are doubles, the nearest to
   the true values. Those of integers are int64_t; values beyond that are an error. */

#ifdef __cplusplus
extern "C" {
#endif

/** Return codes of functions. */
enum warpfold_status {
  WARPFOLD_OK = 0,
  WARPFOLD_FAILED = 1,
  WARPFOLD_USAGE = 2 /**< wrong arguments */
};

/** Types of elements: float, double, int32_t and int64_t. */
enum warpfold_type { WARPFOLD_F32 = 0, WARPFOLD_F64 = 1, WARPFOLD_I32 = 2, WARPFOLD_I64 = 3 };

/** A communicator and scratch memory, kept between calls. Serves one call at a time. */
typedef struct warpfold_collectives warpfold_collectives;

/** Makes collectives over a duplicate of a communicator. */
int warpfold_create(MPI_Comm communicator, warpfold_collectives** made);

/** Makes collectives over a duplicate of a communicator that a Fortran handle names. */
int warpfold_create_f(MPI_Fint communicator, warpfold_collectives** made);

/** Frees `*collectives`, on all ranks before MPI_Finalize, and sets it to NULL. */
int warpfold_free(warpfold_collectives** collectives);

/** Returns the message, one line, of this thread's last call that returned an error. Valid until
   the next such call. */
const char* warpfold_error_message(void);

/** Sums elements. */
int warpfold_sum(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* sum);

/** Sums `fields` fields of `n` elements each, which follow one another in `x`, in one message.
   `sums` has one sum per field. All fields share the mask. */
int warpfold_sums(warpfold_collectives* collectives, int type, uint64_t fields, const void* x,
                  uint64_t n, const unsigned char* mask, void* sums);

/** Sums the products x[i] * y[i]; products are not rounded. */
int warpfold_dot(warpfold_collectives* collectives, int type, const void* x, const void* y,
                 uint64_t n, const unsigned char* mask, void* sum);

/** Sums the products of each of `fields` fields, as warpfold_sums() sums elements. */
int warpfold_dots(warpfold_collectives* collectives, int type, uint64_t fields, const void* x,
                  const void* y, uint64_t n, const unsigned char* mask, void* sums);

/** Finds the minimum of all elements that the mask selects; NaN if any is NaN. Returns
   WARPFOLD_FAILED without elements. */
int warpfold_min(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* minimum);

/** Finds the maximum, as warpfold_min() finds the minimum. */
int warpfold_max(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                 const unsigned char* mask, void* maximum);

/** Writes running sums over all ranks' elements, in rank order: exact, each rounded once. If
   `exclusive` is not 0, each excludes its own element. `prefixes` has `n` float, double or (for
   integers) int64_t; it may be `x` if elements have the same size. */
int warpfold_scan(warpfold_collectives* collectives, int type, const void* x, uint64_t n,
                  int exclusive, void* prefixes);

/** Takes the place of the call that other ranks make, on a rank that can't make it. All of them
   return WARPFOLD_USAGE, with the message `problem` and a full stop. */
int warpfold_refuse(warpfold_collectives* collectives, const char* problem);

/** A reduction or a scan of a dataset in an HDF5 file. Options and results have the names of the
   command's. Serves one call at a time. */
typedef struct warpfold_request warpfold_request;

/** Makes a request for "reduce" or "scan". Of the functions of requests, only
   warpfold_request_run() is collective. */
int warpfold_request_create(const char* command, warpfold_request** made);

/** Sets an option: "ops", "mean,max" for `--ops mean,max`. `value` is NULL for options without a
   value. Options are checked by the run. */
int warpfold_request_set(warpfold_request* request, const char* option, const char* value);

/** Runs the request on a dataset; may be called repeatedly. Collective over `communicator`: all
   ranks must have set the same options. Errors are the same on all ranks. */
int warpfold_request_run(warpfold_request* request, MPI_Comm communicator, const char* file,
                         const char* dataset);

/** Runs the request over a communicator given by its Fortran handle. */
int warpfold_request_run_f(warpfold_request* request, MPI_Fint communicator, const char* file,
                           const char* dataset);

/** Gets a result of the last run, on any rank: a statistic or quantile by its name in "ops" (with
   "by" and no output, "LABEL:NAME"), or "last" of a scan. Returns WARPFOLD_FAILED if it is not a
   floating-point number. */
int warpfold_request_real(const warpfold_request* request, const char* name, double* value);

/** Gets an integer result by the same names, or "count" of a scan. Returns WARPFOLD_FAILED if it is
   not an integer or is beyond int64_t. */
int warpfold_request_integer(const warpfold_request* request, const char* name, int64_t* value);

/** Gets the name of a statistic's dataset in the output file (along axes), or by "output" that of a
   scan's; or the digits of an integer result. Valid until the next run. */
int warpfold_request_text(const warpfold_request* request, const char* name, const char** text);

/** Frees `*request` and sets it to NULL. */
int warpfold_request_free(warpfold_request** request);

#ifdef __cplusplus
}
#endif

#endif
