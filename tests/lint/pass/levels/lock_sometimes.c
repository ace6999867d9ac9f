// Locked only where there are several threads.
//# options: --thread-level serialized
#include <mpi.h>
#include <pthread.h>

static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int several = provided == MPI_THREAD_SERIALIZED;
#pragma omp parallel
  {
    if (several) pthread_mutex_lock(&lock);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (several) pthread_mutex_unlock(&lock);
  }
  MPI_Finalize();
  return 0;
}
