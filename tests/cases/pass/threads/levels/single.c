// MPI is initialised for calls of one thread at a time.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>

static void *send(void *value) {
  MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_SERIALIZED) return 1;
  int rank, value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  value = rank == 0 ? 3 : 0;
  pthread_t thread;
  pthread_create(&thread, NULL, send, &value);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return value == 3 ? 0 : 1;
}
