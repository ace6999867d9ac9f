// Loads the MPI library whose path it is given, for itself alone, and calls MPI by the addresses
// that it finds there, as Julia and Python's ctypes do. Overwrites a buffer that is being sent.
// Says what MPI is asked for and lacks.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static void *library;

static void *find(const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    return NULL;
  }
  return found;
}

#define CALL(name) ((__typeof__(&name))find(#name))

int main(int argc, char **argv) {
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int rank, out = 1, in = 0;
  MPI_Request request;
  CALL(MPI_Init)(&argc, &argv);
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
  CALL(MPI_Isend)(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  if (argc > 2) out = 2;
  CALL(MPI_Recv)(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CALL(MPI_Wait)(&request, MPI_STATUS_IGNORE);
  CALL(MPI_Finalize)();
  printf("rank %d got %d\n", rank, in);
  return 0;
}
