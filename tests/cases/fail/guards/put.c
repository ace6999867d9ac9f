/* Origin and result buffers of one-sided operations are used too early, and so is the buffer of a
   file's split collective, in code that nobody has recompiled. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 1 << 14 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *out = calloc(COUNT, sizeof *out), *in = calloc(COUNT, sizeof *in), *memory, sum = 0;
  MPI_Win window;
  MPI_Win_allocate(2 * COUNT * sizeof *out, sizeof *out, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(0, window);
  MPI_Put(out, COUNT, MPI_DOUBLE, 1 - rank, 0, COUNT, MPI_DOUBLE, window); //~ CS-RMA-01 operation
  out[COUNT / 2] = 1; //~ CS-RMA-01 access ranks=0,1
  MPI_Get(in, COUNT, MPI_DOUBLE, 1 - rank, COUNT, COUNT, MPI_DOUBLE, window); //~ CS-RMA-02 operation
  sum += in[COUNT / 2]; //~ CS-RMA-02 access ranks=0,1
  MPI_Win_flush_local(1 - rank, window);
  out[1] = in[1];
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "put.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_write_at_all_begin(file, rank * COUNT * sizeof *out, out, COUNT, MPI_DOUBLE); //~ CS-BUF-01 operation
  out[COUNT / 3] = sum; //~ CS-BUF-01 access ranks=0,1
  MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  free(out);
  free(in);
  MPI_Finalize();
}
