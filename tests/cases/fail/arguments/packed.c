// More is packed, and unpacked, than there is room for.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  static char packed[64];
  int four[4] = {1, 2, 3, 4}, position = 0;
  MPI_Pack(four, 4, MPI_INT, packed, 8, &position, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=0,1
  position = 12;
  MPI_Unpack(packed, 16, &position, four, 2, MPI_INT, MPI_COMM_WORLD); //~ CS-ARG-01 operation ranks=0,1
  MPI_Finalize();
  return 0;
}
