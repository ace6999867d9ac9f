// A buffer is refilled after the file write completed.
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int record[16];
  MPI_File file;
  MPI_Request request;
  MPI_File_open(MPI_COMM_SELF, rank ? "file_iwrite.1.tmp" : "file_iwrite.0.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_iwrite_at(file, 0, record, 16, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  record[3] = 1;
  MPI_File_close(&file);

  MPI_Finalize();
  return record[3] == 1 ? 0 : 1;
}
