// The fence is that of another window.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static int first[4], second[4], out = 7;
  MPI_Win one, two;
  MPI_Win_create(first, sizeof first, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &one);
  MPI_Win_create(second, sizeof second, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &two);

  MPI_Win_fence(0, one);
  MPI_Win_fence(0, two);
  MPI_Put(&out, 1, MPI_INT, peer, 0, 1, MPI_INT, one); //~ CS-RMA-03 operation
  MPI_Win_fence(0, two);
  int seen = first[0]; //~ CS-RMA-03 access
  second[0] = seen;
  MPI_Win_fence(0, one);

  printf("%d\n", second[0]);
  MPI_Win_free(&two);
  MPI_Win_free(&one);
  MPI_Finalize();
  return 0;
}
