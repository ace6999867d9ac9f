// Two variables at one place of the stack, and neither is of the datatype's type.
//# flags: -O2
#include <cstdio>
#include <mpi.h>

static double largest(double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);  //~ CS-ARG-03 operation
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double tolerance;
  double steps = largest(argc);
  if (std::sscanf("1e-6", "%lf", &tolerance) != 1) return 1;
  std::printf("%g %g\n", steps, tolerance);
  MPI_Finalize();
}
