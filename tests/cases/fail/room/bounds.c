/* Arrays whose last element has a number that takes all bits of a byte, or of two. */
#include <mpi.h>

static double middle[200], large[40000];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double local[150];
  local[0] = middle[0] = large[0] = 1;
  MPI_Bcast(local, 151, MPI_DOUBLE, 0, MPI_COMM_SELF);    //~ CS-BUF-07 operation
  MPI_Bcast(middle, 201, MPI_DOUBLE, 0, MPI_COMM_SELF);   //~ CS-BUF-07 operation
  MPI_Bcast(large, 40001, MPI_DOUBLE, 0, MPI_COMM_SELF);  //~ CS-BUF-07 operation
  MPI_Finalize();
  return local[0] + middle[0] + large[0] < 0;
}
