/* Buffers of split collectives of files, used when they have ended. */
#include <mpi.h>
#include <stdio.h>

static int in[8], out[8];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "split.out", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  MPI_File_write_all_begin(file, out, 8, MPI_INT);
  int before = out[0];
  MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE);
  out[0] = 1;
  MPI_File_read_at_all_begin(file, 0, in, 8, MPI_INT);
  MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
  int first = in[0];
  MPI_File_close(&file);
  printf("%d %d\n", before, first);
  MPI_Finalize();
}
