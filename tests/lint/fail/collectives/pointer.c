/* The collective is called through a pointer. */
#include <mpi.h>

static void nothing(void) {}
static void sync(void) {
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-COL-01 access possible
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double x = 1, y = 0;
  void (*work)(void) = rank == 0 ? sync : nothing;
  work(); //~ CS-COL-01 cause possible
  MPI_Finalize();
  return (int)(x - y) & 0;
}
