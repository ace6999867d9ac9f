// Two ranks have different ideas of what they exchange: what does not come stays as it was.
//# np: 3
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, data[9] = {0}, got[9] = {0}, counts[3], expected[3], places[3] = {0, 3, 6};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 4; step++) {
    for (int i = 0; i < 3; i++) {
      counts[i] = 1 + (rank + i + step) % 2;
      expected[i] = counts[i];
    }
    if (rank == 2 && step == 1) {
      expected[0] = 3;
    }
    MPI_Alltoallv(data, counts, places, MPI_INT, got, expected, places, MPI_INT, //~ CS-COL-04 access ranks=0,2 //~ CS-COL-04 operation
                  MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
