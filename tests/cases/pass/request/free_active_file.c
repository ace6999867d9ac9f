// A file write is completed by a wait, which frees its request.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int record[1 << 16];
  MPI_File file;
  MPI_Request request;
  MPI_File_open(MPI_COMM_SELF, rank ? "free_active_file.1.tmp" : "free_active_file.0.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_File_iwrite_at(file, 0, record, 1 << 16, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);

  MPI_Finalize();
  return 0;
}
