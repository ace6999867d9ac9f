/* Predefined reductions of datatypes that they are defined for. */
#include <mpi.h>

static double data[8], all[8];
static struct { double value; int at; } pairs[4], most[4];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Win win;
  MPI_Allreduce(data, all, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(data, all, 8, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Reduce(pairs, most, 4, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
  MPI_Allreduce(data, all, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  MPI_Win_create(all, sizeof all, sizeof *all, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(data, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, MPI_MIN, win);
  MPI_Win_fence(0, win);
  MPI_Compare_and_swap(data, data + 1, data + 2, MPI_LONG, 0, 0, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
}
