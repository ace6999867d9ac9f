// The last of two threads to drop a reference uses the message: its count is relaxed, and orders
// nothing.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int references = 2;
static int out[4] = {7, 7, 7, 7};

static void drop(void) {
  if (atomic_fetch_sub_explicit(&references, 1, memory_order_relaxed) == 1) out[1] = 8; //~ CS-RMA-01 access
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  static int window[4];
  MPI_Win win;
  MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);

  MPI_Win_lock_all(0, win);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      MPI_Put(out, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); //~ CS-RMA-01 operation
      MPI_Win_flush(1 - rank, win);
    } else {
      while (atomic_load_explicit(&references, memory_order_relaxed) == 2) usleep(10);
    }
    drop();
  }
  MPI_Win_unlock_all(win);

  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
