// MPI is initialised by another thread than the first, and that is the main one then.
#include <mpi.h>
#include <pthread.h>

static int value;

static void *everything(void *unused) {
  int provided;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#pragma omp parallel
  {
#pragma omp master
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, everything, NULL);
  pthread_join(thread, NULL);
  return 0;
}
