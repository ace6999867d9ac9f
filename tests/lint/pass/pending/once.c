/* What guards a start is asked together with something else, by bits, and never holds again once it
 * has held. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, told = 0, done = 0;
  MPI_Request up, down;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  while (!done) {
    if (!told) {
      MPI_Iprobe(rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
      if (told & (rank > 0)) {
        MPI_Isend(NULL, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, &up);
        MPI_Irecv(NULL, 0, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, &down);
      }
    } else {
      if (rank == 0)
        done = 1;
      else
        MPI_Test(&down, &done, MPI_STATUS_IGNORE);
      if (done && rank > 0)
        MPI_Wait(&up, MPI_STATUS_IGNORE);
    }
  }
  printf("%d\n", rank);
  MPI_Finalize();
}
