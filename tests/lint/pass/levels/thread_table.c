// Threads run functions of a table, each of them once: one calls collectives.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int value;

static void *reduce(void *unused) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return unused;
}

static void *print(void *unused) {
  puts("working");
  return unused;
}

static void *(*const table[2])(void *) = {reduce, print};

int main(int argc, char **argv) {
  int provided;
  pthread_t threads[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, table[i], NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  MPI_Finalize();
  return 0;
}
