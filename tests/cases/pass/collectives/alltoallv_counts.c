// Ranks have the same idea of what they exchange.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, data[9] = {0}, got[9] = {0}, counts[3], expected[3], places[3] = {0, 3, 6};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 4; step++) {
    for (int i = 0; i < 3; i++) {
      counts[i] = 1 + (rank + i + step) % 2;
    }
    MPI_Alltoall(counts, 1, MPI_INT, expected, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(data, counts, places, MPI_INT, got, expected, places, MPI_INT,
                  MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
