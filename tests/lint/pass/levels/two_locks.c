// Two locks do not keep each other out.
#include <mpi.h>
#include <pthread.h>

static int in, out;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
    pthread_mutex_lock(&one);
    MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    pthread_mutex_unlock(&one);
    pthread_mutex_lock(&one);
    MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&one);
  }
  MPI_Finalize();
  return 0;
}
