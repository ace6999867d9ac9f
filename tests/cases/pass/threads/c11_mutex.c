// A thread completes its put before it gives up the mutex. Those of C11.
//# flags: -pthread
#include <mpi.h>
#include <threads.h>
#include <unistd.h>

static int window[4], out[4] = {7, 7, 7, 7}, rank;
static MPI_Win win;
static mtx_t mutex;

static int put(void *unused) {
  mtx_lock(&mutex);
  MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
  MPI_Win_flush(1 - rank, win);
  mtx_unlock(&mutex);
  return 0;
}

static int change(void *unused) {
  usleep(200000);
  mtx_lock(&mutex);
  out[1] = 8;
  mtx_unlock(&mutex);
  return 0;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  mtx_init(&mutex, mtx_plain);
  MPI_Win_lock_all(0, win);
  thrd_t threads[2];
  thrd_create(&threads[0], put, NULL);
  thrd_create(&threads[1], change, NULL);
  thrd_join(threads[0], NULL);
  thrd_join(threads[1], NULL);
  out[2] = 9;
  MPI_Win_unlock_all(win);

  mtx_destroy(&mutex);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
