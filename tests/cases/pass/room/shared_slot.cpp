// A variable of an inlined function and one of its caller are at one place of the stack.
//# flags: -O2
#include <cstdio>
#include <mpi.h>

static int largest(int mine) {
  int all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double tolerance;
  int steps = largest(argc);
  if (std::sscanf("1e-6", "%lf", &tolerance) != 1) return 1;
  std::printf("%d %g\n", steps, tolerance);
  MPI_Finalize();
}
