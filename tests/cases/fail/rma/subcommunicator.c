// A window over some of the ranks, in reverse order: its rank 0 reads what its rank 2 puts.
//# np: 4
#include <mpi.h>
#include <stdio.h>

static int window[4], out = 7;

static int exchange(MPI_Comm comm) {
  int rank, seen = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, comm, &win);

  MPI_Win_fence(0, win);
  if (rank == 2) {
    MPI_Put(&out, 1, MPI_INT, 0, 2, 1, MPI_INT, win); //~ CS-RMA-03 operation ranks=3
  } else if (rank == 0) {
    seen = window[2]; //~ CS-RMA-03 access ranks=3
  }
  MPI_Win_fence(0, win);

  MPI_Win_free(&win);
  return seen;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Comm some;
  int seen = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 0 : MPI_UNDEFINED, -rank, &some);
  if (rank > 0) {
    seen = exchange(some);
    MPI_Comm_free(&some);
  }

  printf("%d\n", seen);
  MPI_Finalize();
  return 0;
}
