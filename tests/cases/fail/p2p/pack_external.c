// The buffer of a pending receive is packed for another machine.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, got = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int in[4];
  static char packed[64];
  MPI_Aint position = 0;
  MPI_Request request;
  MPI_Irecv(in, 4, MPI_INT, rank, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-04 operation
  MPI_Pack_external("external32", in, 4, MPI_INT, packed, 64, &position); //~ CS-BUF-04 access
  MPI_Send((int[]){1, 2, 3, 4}, 4, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  position = 0;
  MPI_Unpack_external("external32", packed, 64, &position, &got, 1, MPI_INT);
  MPI_Finalize();
  return got == 99;
}
