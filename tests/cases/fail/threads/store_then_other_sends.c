// A thread stores to the window after it has sent a message itself; another one sends the message
// after which the origin puts. That the first thread has sent something before does not order its
// store.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static int window[4], out[4] = {7, 7, 7, 7};
static MPI_Win win;

static void *store(void *unused) {
  int token = 0;
  MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  window[1] = 8; //~ CS-RMA-03 access ranks=1
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
    MPI_Recv(&token, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win); //~ CS-RMA-03 operation ranks=1
    MPI_Win_flush(1, win);
  } else {
    pthread_t thread;
    pthread_create(&thread, NULL, store, NULL);
    usleep(200000);
    MPI_Send(&token, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
