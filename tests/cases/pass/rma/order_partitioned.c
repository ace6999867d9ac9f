// Partitions that have arrived order what their sender did before MPI_Pready, whatever it does
// then. Open MPI 4.1 has none, and MPI_Parrived of MPICH 4.0 says so before they are ready.
//# mpi: mpich
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, seen = 14;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[8], out = 7, message[2];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(message, 2, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int i = 0; i < 2; i++) {
      MPI_Put(&out, 1, MPI_INT, 1, 4 * i, 1, MPI_INT, win);
      MPI_Win_flush(1, win);
      MPI_Pready(i, request);
    }
    usleep(100000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Precv_init(message, 2, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    seen = window[0] + window[4];
  }
  MPI_Request_free(&request);
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return seen == 14 ? 0 : 1;
}
