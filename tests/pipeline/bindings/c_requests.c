/* Runs a request: COMMAND FILE DATASET [OPTION[=VALUE]...] -- NAME...; prints results by name, reals
   as hexadecimal numbers, on every rank. The value RANK is the rank's number, from 1. A status other
   than 0 is printed with its message. With the command "outlive" it destroys an object after
   MPI_Finalize. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpfold/warpfold.h>

static int report(int status) {
  if (status != WARPFOLD_OK) printf("status %d: %s\n", status, warpfold_error_message());
  return status;
}

static void print_result(const warpfold_request* request, const char* name) {
  double real = 0;
  int64_t integer = 0;
  const char* text = NULL;
  if (warpfold_request_integer(request, name, &integer) == WARPFOLD_OK)
    printf("%s integer %lld\n", name, (long long)integer);
  else if (warpfold_request_real(request, name, &real) == WARPFOLD_OK)
    printf("%s real %a\n", name, real);
  else if (report(warpfold_request_text(request, name, &text)) == WARPFOLD_OK)
    printf("%s text %s\n", name, text);
}

static void run(int count, char** words) {
  warpfold_request* request = NULL;
  int at = 3, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (report(warpfold_request_create(words[0], &request)) != WARPFOLD_OK) return;
  for (; at < count && strcmp(words[at], "--") != 0; ++at) {
    char* value = strchr(words[at], '=');
    if (value != NULL) *value++ = '\0';
    if (value != NULL && strcmp(value, "RANK") == 0) sprintf(value, "%d", rank + 1);
    report(warpfold_request_set(request, words[at], value));
  }
  if (report(warpfold_request_run(request, MPI_COMM_WORLD, words[1], words[2])) == WARPFOLD_OK)
    for (++at; at < count; ++at) print_result(request, words[at]);
  report(warpfold_request_free(&request));
}

int main(int argc, char** argv) {
  int provided = 0;
  warpfold_collectives* collectives = NULL;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (strcmp(argv[1], "outlive") == 0)
    report(warpfold_create(MPI_COMM_WORLD, &collectives));
  else
    run(argc - 1, argv + 1);
  MPI_Finalize();
  return report(warpfold_free(&collectives));
}
