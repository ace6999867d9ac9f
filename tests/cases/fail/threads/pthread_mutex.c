// A thread completes its put after it has given up the mutex.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static int window[4], out[4] = {7, 7, 7, 7}, rank;
static MPI_Win win;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *put(void *unused) {
  pthread_mutex_lock(&mutex);
  MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
  pthread_mutex_unlock(&mutex);
  MPI_Win_flush(1 - rank, win);
  return unused;
}

static void *change(void *unused) {
  usleep(200000);
  pthread_mutex_lock(&mutex);
  out[1] = 8; //~ CS-RMA-01 access
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, put, NULL);
  pthread_create(&threads[1], NULL, change, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  out[2] = 9;
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
