/* Elements of two accumulates overlap in part: each is atomic for its own elements only. */
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *base, one = 1;
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(double), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  for (int i = 0; i < 4; i++) base[i] = 0;
  MPI_Win_fence(0, window);
  if (rank == 1) MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 2, 1, MPI_DOUBLE, MPI_SUM, window);
  if (rank == 2) MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 2, 1, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
