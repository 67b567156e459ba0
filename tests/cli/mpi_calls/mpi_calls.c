/* Preloaded into a program under test, counts a rank's MPI calls by MPI's profiling interface.
 *
 * WARPFOLD_MPI_CALLS  a folder: at MPI_Finalize each rank writes a file there, named by its rank,
 * with a line for each function that moves data: its name, calls, and bytes that the rank gives
 * WARPFOLD_MPI_WITHOUT_WINDOW  the rank that gets no memory that ranks share; unset: none
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum function {
  ALLGATHER,
  ALLGATHERV,
  ALLREDUCE,
  BARRIER,
  BCAST,
  EXSCAN,
  GATHER,
  GATHERV,
  IALLREDUCE,
  IEXSCAN,
  IRECV,
  ISEND,
  RECV,
  REDUCE,
  SCAN,
  SEND,
  FUNCTIONS
};

static const char* const names[FUNCTIONS] = {
    "MPI_Allgather", "MPI_Allgatherv", "MPI_Allreduce",  "MPI_Barrier", "MPI_Bcast", "MPI_Exscan",
    "MPI_Gather",    "MPI_Gatherv",    "MPI_Iallreduce", "MPI_Iexscan", "MPI_Irecv", "MPI_Isend",
    "MPI_Recv",      "MPI_Reduce",     "MPI_Scan",       "MPI_Send"};

static long long calls[FUNCTIONS];
static long long bytes[FUNCTIONS];

static void count(enum function function, int elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  ++calls[function];
  bytes[function] += (long long)elements * size;
}

int MPI_Finalize(void) {
  const char* folder = getenv("WARPFOLD_MPI_CALLS");
  char path[4096];
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof(path), "%s/%d", folder, rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) PMPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < FUNCTIONS; ++i)
    if (calls[i] != 0) fprintf(file, "%s %lld %lld\n", names[i], calls[i], bytes[i]);
  fclose(file);
  return PMPI_Finalize();
}

int MPI_Allgather(const void* from, int count_from, MPI_Datatype type, void* to, int count_to,
                  MPI_Datatype type_to, MPI_Comm comm) {
  count(ALLGATHER, count_from, type);
  return PMPI_Allgather(from, count_from, type, to, count_to, type_to, comm);
}

int MPI_Allgatherv(const void* from, int count_from, MPI_Datatype type, void* to,
                   const int counts[], const int places[], MPI_Datatype type_to, MPI_Comm comm) {
  count(ALLGATHERV, count_from, type);
  return PMPI_Allgatherv(from, count_from, type, to, counts, places, type_to, comm);
}

int MPI_Allreduce(const void* from, void* to, int elements, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  count(ALLREDUCE, elements, type);
  return PMPI_Allreduce(from, to, elements, type, op, comm);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                            MPI_Win* window) {
  const char* without = getenv("WARPFOLD_MPI_WITHOUT_WINDOW");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int error = PMPI_Win_allocate_shared(size, unit, info, comm, base, window);
  if (without == NULL || atoi(without) != rank) return error;
  *window = MPI_WIN_NULL;
  return MPI_ERR_OTHER;
}

int MPI_Barrier(MPI_Comm comm) {
  count(BARRIER, 0, MPI_BYTE);
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* buffer, int elements, MPI_Datatype type, int root, MPI_Comm comm) {
  count(BCAST, elements, type);
  return PMPI_Bcast(buffer, elements, type, root, comm);
}

int MPI_Exscan(const void* from, void* to, int elements, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
  count(EXSCAN, elements, type);
  return PMPI_Exscan(from, to, elements, type, op, comm);
}

int MPI_Gather(const void* from, int count_from, MPI_Datatype type, void* to, int count_to,
               MPI_Datatype type_to, int root, MPI_Comm comm) {
  count(GATHER, count_from, type);
  return PMPI_Gather(from, count_from, type, to, count_to, type_to, root, comm);
}

int MPI_Gatherv(const void* from, int count_from, MPI_Datatype type, void* to, const int counts[],
                const int places[], MPI_Datatype type_to, int root, MPI_Comm comm) {
  count(GATHERV, count_from, type);
  return PMPI_Gatherv(from, count_from, type, to, counts, places, type_to, root, comm);
}

int MPI_Iallreduce(const void* from, void* to, int elements, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  count(IALLREDUCE, elements, type);
  return PMPI_Iallreduce(from, to, elements, type, op, comm, request);
}

int MPI_Iexscan(const void* from, void* to, int elements, MPI_Datatype type, MPI_Op op,
                MPI_Comm comm, MPI_Request* request) {
  count(IEXSCAN, elements, type);
  return PMPI_Iexscan(from, to, elements, type, op, comm, request);
}

int MPI_Irecv(void* buffer, int elements, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count(IRECV, 0, MPI_BYTE);
  return PMPI_Irecv(buffer, elements, type, from, tag, comm, request);
}

int MPI_Isend(const void* buffer, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count(ISEND, elements, type);
  return PMPI_Isend(buffer, elements, type, to, tag, comm, request);
}

int MPI_Recv(void* buffer, int elements, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  count(RECV, 0, MPI_BYTE);
  return PMPI_Recv(buffer, elements, type, from, tag, comm, status);
}

int MPI_Reduce(const void* from, void* to, int elements, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  count(REDUCE, elements, type);
  return PMPI_Reduce(from, to, elements, type, op, root, comm);
}

int MPI_Scan(const void* from, void* to, int elements, MPI_Datatype type, MPI_Op op,
             MPI_Comm comm) {
  count(SCAN, elements, type);
  return PMPI_Scan(from, to, elements, type, op, comm);
}

int MPI_Send(const void* buffer, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  count(SEND, elements, type);
  return PMPI_Send(buffer, elements, type, to, tag, comm);
}
