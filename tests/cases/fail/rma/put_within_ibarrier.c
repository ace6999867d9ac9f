// The target has left the nonblocking barrier; an origin has entered it only, and does not know of
// the other one's put.
//# np: 3
#include <mpi.h>
#include <unistd.h>

static int window[4], out = 7;
static MPI_Win win;

static void put(void) {
  MPI_Put(&out, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //~ CS-RMA-04 operation ranks=1 //~ CS-RMA-04 access ranks=1
  MPI_Win_flush(1, win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);

  MPI_Request request;
  if (rank == 0) put();
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (rank == 2) {
    for (int i = 0, found; i < 100; i++) {
      MPI_Iprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); // so that the barrier goes on
      usleep(1000);
    }
    put();
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 1 && window[0] != 7;
}
