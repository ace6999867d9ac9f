// The parallel region is in one file, MPI in another.
#include <mpi.h>

void step(void);

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  step();
  MPI_Finalize();
  return 0;
}
