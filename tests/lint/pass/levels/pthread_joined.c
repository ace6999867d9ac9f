// All threads are joined, in a loop, before the main one calls MPI again.
#include <mpi.h>
#include <pthread.h>

static int values[5];

static void *work(void *on) {
  ++*(int *)on;
  return on;
}

static void *receive(void *unused) {
  MPI_Recv(&values[4], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, &values[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  pthread_create(&threads[0], NULL, receive, NULL);
  for (int i = 0; i < 8; i++) values[4] += i;
  pthread_join(threads[0], NULL);
  MPI_Send(values, 5, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
