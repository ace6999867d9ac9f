// A function that looks at what is at an address is called for the number of ranks first, then for
// the rank: what it returned before does not differ.
#include <mpi.h>
#include <stdio.h>

static int half(const int *number) { return *number / 2; }

static int rounds(const int *number) { return half(number) - 1; }

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int of_size = rounds(&size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int of_rank = rounds(&rank);
  printf("%d %d\n", of_size, of_rank);
  if (of_size > 1)
    MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
