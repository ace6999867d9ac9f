// The heap is damaged before the program goes on: a write that comes too early is found all the
// same, and the abort too.
//# np: 2
//# flags: -U_FORTIFY_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept[400];

int main(int argc, char **argv) {
  setenv("OMPI_MCA_opal_signal", "", 1); // Open MPI's own handler would need the heap
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  char *last = NULL;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  // The last of many blocks lies at the end of the heap.
  for (int i = 0; i < 400; i++) {
    char *block = kept[i] = malloc(2000);
    last = block > last ? block : last;
  }
  // What MPI needs for a message of its own comes from a hole before the end.
  for (int i = 100; i < 140; i++) {
    free(kept[i]);
    kept[i] = NULL;
  }
  volatile char *end = last;
  for (int i = 0; i < 2064; i++) {
    end[i] = -1;
  }
  if (rank == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-01 operation
    value = 1; //~ CS-BUF-01 access
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 140; i < 400; i++) {
    kept[i] = realloc(kept[i], 3000); //~ CS-ERR-04 access
  }
  MPI_Finalize();
  return 0;
}
