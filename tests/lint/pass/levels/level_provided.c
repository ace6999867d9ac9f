// A program that asks for little, and uses more where it is provided.
#include <mpi.h>
#include <stdio.h>

static int value, level;

static int may_serialize(const int *provided) { return *provided >= MPI_THREAD_SERIALIZED; }

int main(int argc, char **argv) {
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  if (level < MPI_THREAD_FUNNELED) {
    fprintf(stderr, "no threads\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
#pragma omp parallel
  {
    if (may_serialize(&level)) {
#pragma omp single
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
#pragma omp master
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
