// The root sends half of what the others expect.
//# np: 3
//# options: --stuck-after 1
#include <mpi.h>

static double field[64];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 64 && rank == 0; i++) field[i] = i;
  MPI_Bcast(field, rank ? 64 : 32, MPI_DOUBLE, 0, MPI_COMM_WORLD); //~ CS-COL-04 access //~ CS-COL-04 operation
  MPI_Finalize();
  return 0;
}
