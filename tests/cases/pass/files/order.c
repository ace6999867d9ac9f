// All ranks call the same collectives on a file; what they do alone is their own business.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int part[64];
  for (int i = 0; i < 64; i++) part[i] = rank;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "files_order.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_set_size(file, 1024);
  if (rank == 0) {
    MPI_File_write_at(file, 0, part, 64, MPI_INT, MPI_STATUS_IGNORE);
  }
  MPI_File_write_at_all(file, 512, part, 64, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
