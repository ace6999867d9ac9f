// A communicator for each step, which is freed.
//# np: 2
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm mine;
  for (int i = 0; i < 3000; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    MPI_Comm_free(&mine);
  }
  MPI_Finalize();
  return 0;
}
