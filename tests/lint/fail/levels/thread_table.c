// Threads run functions of a table: both call collectives on one communicator.
#include <mpi.h>
#include <pthread.h>

static int value;

static void *reduce(void *unused) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); //~ CS-THR-04 operation possible
  return unused;
}

static void *meet(void *unused) {
  MPI_Barrier(MPI_COMM_WORLD); //~ CS-THR-04 access possible
  return unused;
}

static void *(*const table[2])(void *) = {reduce, meet};

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
