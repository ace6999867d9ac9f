/* Buffers of split collectives of files, used between the call that begins one and the call that
 * ends it. */
#include <mpi.h>
#include <stdio.h>

static int in[8], out[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "split.out", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  MPI_File_write_all_begin(file, out, 8, MPI_INT); //~ CS-BUF-01 operation
  out[0] = 1; //~ CS-BUF-01 access
  MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE);
  MPI_File_read_at_all_begin(file, 0, in, 8, MPI_INT); //~ CS-BUF-02 operation
  int first = in[0]; //~ CS-BUF-02 access
  MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  printf("%d\n", first);
  MPI_Finalize();
}
