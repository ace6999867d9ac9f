/* A file is written and read by nonblocking calls, for which the C library has threads of its
 * own. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 1 << 16, ROUNDS = 3 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(COUNT, sizeof *out), *in = calloc(COUNT, sizeof *in);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "file.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < COUNT; i++) out[i] = rank + round + i;
    MPI_Offset at = (MPI_Offset)rank * COUNT * sizeof *out;
    MPI_Request request;
    MPI_Status status;
    MPI_File_iwrite_at(file, at, out, COUNT, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, at, in, COUNT, MPI_DOUBLE, &request);
    MPI_Wait(&request, &status);
    int count;
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    wrong += count != COUNT;
    for (int i = 0; i < COUNT; i++) wrong += in[i] != out[i];
    MPI_File_iread_at_all(file, at, in, COUNT, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, at, in, COUNT, MPI_DOUBLE);
    MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
    wrong += in[COUNT / 2] != out[COUNT / 2];
  }
  MPI_File_close(&file);
  free(out);
  free(in);
  MPI_Finalize();
  return wrong != 0;
}
