// A function that is called through a pointer, by the first thread.
#include <mpi.h>

static int value;
static void (*exchange)(void);

static void send(void) { MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }

static void work(void) { value++; }

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  exchange = send;
#pragma omp parallel
  {
#pragma omp single
    work();
#pragma omp master
    exchange();
  }
  MPI_Finalize();
  return 0;
}
