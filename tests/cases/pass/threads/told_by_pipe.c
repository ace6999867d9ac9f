// A thread puts, and tells another one by a pipe, a socket or an eventfd.
//# flags: -pthread
#include <mpi.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int window[4], out[4] = {7, 7, 7, 7}, rank, ends[2];
static MPI_Win win;

static void *put(void *unused) {
  const long told = 1;
  MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win);
  MPI_Win_flush(1 - rank, win);
  if (write(ends[1], &told, sizeof told) != sizeof told) MPI_Abort(MPI_COMM_WORLD, 1);
  return unused;
}

static void exchange(void) {
  pthread_t other;
  long heard;
  pthread_create(&other, NULL, put, NULL);
  if (read(ends[0], &heard, sizeof heard) == sizeof heard) out[1]++;
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

  for (int round = 0; round < 3; round++) {
    if (pipe(ends) != 0) return 1;
    exchange();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    exchange();
    ends[0] = ends[1] = eventfd(0, 0);
    exchange();
  }

  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
