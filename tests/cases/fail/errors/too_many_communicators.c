// A communicator for each step, never freed: there is no room for more at some time.
//# np: 2
//# mpi: mpich
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm mine;
  for (int i = 0; i < 3000; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &mine); //~ CS-ERR-01 operation
  }
  MPI_Finalize();
  return 0;
}
