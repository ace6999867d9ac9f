// A thread and the one that started it call MPI at the same time.
#include <mpi.h>
#include <pthread.h>

static int in, out;

static void *receive(void *unused) {
  MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 access
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 operation
  pthread_join(thread, NULL);

  MPI_Finalize();
  return 0;
}
