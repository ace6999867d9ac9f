// There is room for all that is packed.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  static char packed[64];
  int four[4] = {1, 2, 3, 4}, position = 0;
  MPI_Pack(four, 4, MPI_INT, packed, 16, &position, MPI_COMM_WORLD);
  position = 8;
  MPI_Unpack(packed, 16, &position, four, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
