// Two ranks send large messages to each other before they receive.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

#define N (1 << 20)

static double mine[N], theirs[N];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int other = 1 - rank;
  MPI_Send(mine, N, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); //~ CS-DLK-01 wait ranks=0,1
  MPI_Recv(theirs, N, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
