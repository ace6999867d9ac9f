/* The first operation of a program writes a buffer of which its call itself closes the pages; the
   result is used before the epoch ends. */
//# hooks: none
//# options: --guards
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 1 << 14 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *in = calloc(COUNT, sizeof *in), *memory = calloc(COUNT, sizeof *memory), sum = 0;
  for (int i = 0; i < COUNT; i++)
    memory[i] = rank + i;
  MPI_Win window;
  MPI_Win_create(memory, COUNT * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Datatype column, transposed;
  MPI_Type_vector(COUNT / 128, 1, 128, MPI_DOUBLE, &column);
  MPI_Type_create_hvector(128, 1, sizeof *in, column, &transposed);
  MPI_Type_commit(&transposed);
  for (int round = 0; round < 3; round++) {
    MPI_Win_fence(0, window);
    MPI_Get(in, COUNT, MPI_DOUBLE, 1 - rank, 0, 1, transposed, window); //~ CS-RMA-02 operation
    sum += in[COUNT / 2]; //~ CS-RMA-02 access ranks=0,1
    MPI_Win_fence(0, window);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&transposed);
  MPI_Win_free(&window);
  free(in);
  free(memory);
  MPI_Finalize();
  return sum != sum;
}
