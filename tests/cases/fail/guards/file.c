/* What is being written to a file is changed. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 1 << 16 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(COUNT, sizeof *out);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "file.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_Offset at = (MPI_Offset)rank * COUNT * sizeof *out;
  MPI_Request request;
  MPI_File_iwrite_at(file, at, out, COUNT, MPI_DOUBLE, &request); //~ CS-BUF-01 operation
  out[COUNT / 2] = 1; //~ CS-BUF-01 access ranks=0,1
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  free(out);
  MPI_Finalize();
}
