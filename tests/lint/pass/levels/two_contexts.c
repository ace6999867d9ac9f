// A function called outside parallel regions, and in one.
#include <mpi.h>

static int value;

static void send(void) { MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }

static void step(void) { send(); }

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  send();
#pragma omp parallel
  {
#pragma omp master
    step();
  }
  MPI_Finalize();
  return 0;
}
