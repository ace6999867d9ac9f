// The main thread of the target comes to know by a barrier that the put is complete, and hands that
// to the thread that loads under a mutex.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static int window[4], out[4] = {7, 7, 7, 7}, sum;
static MPI_Win win;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *load(void *unused) {
  for (int is_ready = 0; !is_ready;) {
    pthread_mutex_lock(&mutex);
    is_ready = ready;
    pthread_mutex_unlock(&mutex);
    if (!is_ready) usleep(1000);
  }
  sum = window[1];
  return unused;
}

int main(int argc, char **argv) {
  int provided, rank, token = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    MPI_Recv(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win);
    MPI_Win_flush(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    pthread_t thread;
    pthread_create(&thread, NULL, load, NULL);
    MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 1 && sum != 7;
}
