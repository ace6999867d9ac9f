// A rank that broadcasts before it sends, to one that receives first: it goes well as long as the
// root of a broadcast need not wait.
//# np: 3
//# options: --stuck-after 1 --strict-collectives
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, parameter = 3, work = 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Bcast(&parameter, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-DLK-01 wait ranks=0,1
    MPI_Send(&work, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    if (rank == 1) {
      MPI_Recv(&work, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    }
    MPI_Bcast(&parameter, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
