// Another thread than the main one calls MPI.
#include <mpi.h>
#include <pthread.h>

static int in;

static void *receive(void *unused) {
  MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
