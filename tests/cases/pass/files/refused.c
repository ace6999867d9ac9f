// Files that are not there: all ranks are told so, and go on.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, sum = 0, failures = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  for (int i = 0; i < 3; i++) {
    if (MPI_File_open(MPI_COMM_WORLD, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS) failures++;
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  // Ranks that use files of their own do not meet.
  if (rank == 0) {
    MPI_File_open(MPI_COMM_SELF, "files_refused.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_all(file, &sum, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  MPI_Finalize();
  return sum != 6;
}
