// Both threads of the target receive a message that says that the put is complete, one after the
// other; the second loads.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank, sum = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4], out[4] = {7, 7, 7, 7};
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    int tokens[2] = {0, 0};
    MPI_Put(out, 4, MPI_INT, 1, 0, 4, MPI_INT, win);
    MPI_Win_flush(1, win);
    for (int i = 0; i < 2; i++) MPI_Send(&tokens[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD);
  } else {
#pragma omp parallel num_threads(2)
    {
      int me = omp_get_thread_num(), token;
      if (me == 1) usleep(200000);
      MPI_Recv(&token, 1, MPI_INT, 0, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (me == 1) sum = window[1];
    }
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 1 && sum != 7;
}
