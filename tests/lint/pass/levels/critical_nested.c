// A critical section within one of the same name waits for itself.
#include <mpi.h>

static int value;

static void send(void) {
#pragma omp critical(send)
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
#pragma omp critical(mpi)
    send();
  }
  MPI_Finalize();
  return 0;
}
