/* Predefined reductions of datatypes that they are not defined for. */
#include <mpi.h>

static double data[8], all[8];
static struct { double value; int at; } pairs[4], most[4];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Win win;
  MPI_Allreduce(data, all, 8, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);       //~ CS-ARG-01 operation
  MPI_Allreduce(data, all, 8, MPI_DOUBLE, MPI_MAXLOC, MPI_COMM_WORLD);     //~ CS-ARG-01 operation
  MPI_Reduce(pairs, most, 4, MPI_DOUBLE_INT, MPI_MAX, 0, MPI_COMM_WORLD);  //~ CS-ARG-01 operation
  MPI_Allreduce(data, all, 8, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD);          //~ CS-ARG-01 operation
  MPI_Win_create(all, sizeof all, sizeof *all, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(data, 8, MPI_DOUBLE, 0, 0, 8, MPI_DOUBLE, MPI_LAND, win); //~ CS-ARG-01 operation
  MPI_Win_fence(0, win);
  MPI_Compare_and_swap(data, data + 1, data + 2, MPI_DOUBLE, 0, 0, win);   //~ CS-ARG-01 operation
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
}
