// A nonblocking write is complete when its file is closed.
//# np: 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int part[64];
  for (int i = 0; i < 64; i++) part[i] = rank;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "files_closed_early.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_Request request;
  MPI_File_iwrite_at(file, 0, part, 64, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
