// Two branches do the same, which compilers would make one: each has its own line.
//# flags: -O2
#include <mpi.h>

static int in[4], out[4] = {7, 7, 7, 7};

int main(int argc, char **argv) {
  int rank, total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  MPI_Request request;
  if (rank == 0) {
    MPI_Irecv(in, 4, MPI_INT, other, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation ranks=0
  } else {
    MPI_Irecv(in, 4, MPI_INT, other, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation ranks=1
  }
  MPI_Send(out, 4, MPI_INT, other, 0, MPI_COMM_WORLD);
  total += in[0]; //~ CS-BUF-02 access
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return total > 7;
}
