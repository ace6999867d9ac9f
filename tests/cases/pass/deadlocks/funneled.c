// Beside a thread that must not call MPI, two ranks exchange messages.
//# np: 2
//# flags: -pthread
//# options: --stuck-after 1
#include <mpi.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int over;

static void *wait_until_over(void *nothing) {
  pthread_mutex_lock(&mutex);
  while (!over) {
    pthread_cond_wait(&told, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return nothing;
}

int main(int argc, char **argv) {
  int rank, provided, value = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_until_over, NULL);
  MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pthread_mutex_lock(&mutex);
  over = 1;
  pthread_cond_signal(&told);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
