// Both regions are in functions; the barrier at the end of the first is what orders them.
#include <mpi.h>

static int in, out;

static void send(void) {
#pragma omp single nowait
  MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
}

static void receive(void) {
#pragma omp single
  MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 operation
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
    for (int i = 0; i < 3; i++) {
      send();
      receive();
    }
  }
  MPI_Finalize();
  return 0;
}
