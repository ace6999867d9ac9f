// A rank waits for a message with a lock that the sender of it has to wait for.
//# np: 2
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, one = 1, last = 0, *memory;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win win;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&last, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
    MPI_Win_unlock(0, win);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win); MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win); MPI_Win_unlock(0, win); //~ CS-DLK-01 wait
    MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
