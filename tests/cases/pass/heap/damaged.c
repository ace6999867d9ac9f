// Blocks up to the end of the heap are filled, but not more, and the write comes after the message.
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
  volatile char *end = last;
  for (int i = 0; i < 2000; i++) {
    end[i] = -1;
  }
  if (rank == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    value = 1;
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 400; i++) {
    kept[i] = realloc(kept[i], 3000);
  }
  MPI_Finalize();
  return 0;
}
