// MPI is initialised for one thread, and another one calls it.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>

static void *send(void *value) {
  MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
  return NULL;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv); //~ CS-THR-01 operation
  int rank, value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  value = rank == 0 ? 3 : 0;
  pthread_t thread;
  pthread_create(&thread, NULL, send, &value);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return value == 3 ? 0 : 1;
}
