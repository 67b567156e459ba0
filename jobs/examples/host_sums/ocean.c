/* Global sums of an ocean's points that MPI ranks share, the same bits for any number of ranks:
   ocean_c [POINTS]. Prints each as the bits of the double in hexadecimal, and as a number. */

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpfold/warpfold.h>

enum { fields = 2 };

/* Numbers from 0 to 2^31 - 1 that look random. */
static int64_t mixed(int64_t i) { return (i * 1103515245 + 12345) % (INT64_C(1) << 31); }

static double temperature_at(int64_t i) {
  return ldexp((double)(mixed(i) - (INT64_C(1) << 30)), (int)(i % 41) - 50);
}

static double volume_at(int64_t i) { return ldexp((double)mixed(i + 7777777), (int)(i % 31) - 15); }

static void* allocate(uint64_t bytes) {
  void* memory = malloc(bytes + 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

/* Errors are the same on every rank. */
static void check(int status) {
  int rank = 0;
  if (status == WARPFOLD_OK) return;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "%s\n", warpfold_error_message());
  MPI_Finalize();
  exit(1);
}

static void print(int rank, const char* name, double value) {
  uint64_t bits = 0;
  if (rank != 0) return;
  memcpy(&bits, &value, sizeof bits);
  printf("%-13s %016" PRIx64 "  %.17g\n", name, bits, value);
}

int main(int argc, char** argv) {
  const int64_t points = argc > 1 ? strtoll(argv[1], NULL, 10) : 100003;
  int rank = 0;
  int ranks = 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const int64_t first = points * rank / ranks;
  const uint64_t n = (uint64_t)(points * (rank + 1) / ranks - first);
  double* state = allocate(fields * n * sizeof *state); /* field after field */
  double* temperature = state;
  double* volume = state + n;
  double* prefixes = allocate(n * sizeof *prefixes);
  int64_t* numbers = allocate(n * sizeof *numbers);
  unsigned char* wet = allocate(n);
  for (uint64_t i = 0; i < n; ++i) {
    const int64_t point = first + (int64_t)i;
    temperature[i] = temperature_at(point);
    volume[i] = volume_at(point);
    numbers[i] = mixed(point);
    wet[i] = point % 5 != 0;
  }

  warpfold_collectives* global = NULL;
  double sums[fields];
  double heat = 0;
  double coldest = 0;
  int64_t number = 0;
  check(warpfold_create(MPI_COMM_WORLD, &global));
  check(warpfold_sums(global, WARPFOLD_F64, fields, state, n, wet, sums)); /* one message */
  check(warpfold_dot(global, WARPFOLD_F64, temperature, volume, n, wet, &heat));
  check(warpfold_min(global, WARPFOLD_F64, temperature, n, wet, &coldest));
  check(warpfold_sum(global, WARPFOLD_I64, numbers, n, NULL, &number));
  check(warpfold_scan(global, WARPFOLD_F64, temperature, n, 0, prefixes));
  double last = n > 0 ? prefixes[n - 1] : 0;
  MPI_Bcast(&last, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);

  print(rank, "temperature", sums[0]);
  print(rank, "volume", sums[1]);
  print(rank, "heat", heat);
  print(rank, "coldest", coldest);
  print(rank, "last prefix", last);
  if (rank == 0) printf("%-13s %" PRId64 "\n", "numbers", number);

  /* A mistake of one rank is an error on all. */
  const int status =
      warpfold_sum(global, WARPFOLD_F64, rank == ranks - 1 ? NULL : volume, n, NULL, &heat);
  if (rank == 0) printf("%-13s %d: %s\n", "mistake", status, warpfold_error_message());

  check(warpfold_free(&global));
  free(wet);
  free(numbers);
  free(prefixes);
  free(state);
  MPI_Finalize();
  return 0;
}
