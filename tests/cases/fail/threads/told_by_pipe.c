// A thread puts, and tells another one by a pipe before the put is complete.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static int window[4], out[4] = {7, 7, 7, 7}, rank, ends[2];
static MPI_Win win;

static void *put(void *unused) {
  const long told = 1;
  MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
  if (write(ends[1], &told, sizeof told) != sizeof told) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Win_flush(1 - rank, win);
  return unused;
}

static void exchange(void) {
  pthread_t other;
  long heard;
  pthread_create(&other, NULL, put, NULL);
  if (read(ends[0], &heard, sizeof heard) == sizeof heard) out[1]++; //~ CS-RMA-01 access
  pthread_join(other, NULL);
  close(ends[0]);
  if (ends[1] != ends[0]) close(ends[1]);
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);

  if (pipe(ends) != 0) return 1;
  exchange();

  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
