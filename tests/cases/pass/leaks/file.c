/* Files that are closed. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_File first, second;
  char name[64];
  int rank, mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "/tmp/commsan_left_%d", rank);
  MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &first);
  MPI_File_close(&first);
  MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &second);
  MPI_File_close(&second);
  MPI_Finalize();
  return 0;
}
