// The variables of a function are gone when it returns.
//# flags: -std=c++20
#include <mpi.h>

static MPI_Request pending;

static void report(int to) {
  double row[64];
  for (int i = 0; i < 64; i++) row[i] = i;
  MPI_Isend(row, 64, MPI_DOUBLE, to, 1, MPI_COMM_WORLD, &pending);  //~ CS-BUF-06 operation
}  //~ CS-BUF-06 return

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  double in[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  report(rank);
  MPI_Recv(in, 64, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  MPI_Finalize();
}
