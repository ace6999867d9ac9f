// Windows of duplicated communicators and of parts of the world; order by an intercommunicator.
//# np: 4
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int next = (rank + 1) % size, out = rank;

  MPI_Comm copy, half, inter;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  static int of_all[8], of_copy[8], of_half[8];
  MPI_Win all, copied, halved;
  MPI_Win_create(of_all, sizeof of_all, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &all);
  MPI_Win_create(of_copy, sizeof of_copy, 4, MPI_INFO_NULL, copy, &copied);

  // The same place in two windows, and order by the other communicator.
  MPI_Win_lock_all(0, copied);
  MPI_Win_lock_all(0, all);
  MPI_Put(&out, 1, MPI_INT, next, 0, 1, MPI_INT, copied);
  MPI_Put(&out, 1, MPI_INT, next, 0, 1, MPI_INT, all);
  MPI_Win_flush_all(all);
  MPI_Win_flush_all(copied);
  MPI_Barrier(copy);
  MPI_Win_sync(copied);
  right &= of_copy[0] == (rank + size - 1) % size && of_all[0] == of_copy[0];
  MPI_Win_unlock_all(copied);

  // Ranks in reverse order; only some make the window.
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int place;
  MPI_Comm_rank(half, &place);
  if (rank % 2 == 0) {
    MPI_Win_create(of_half, sizeof of_half, 4, MPI_INFO_NULL, half, &halved);
    MPI_Win_fence(0, halved);
    MPI_Put(&out, 1, MPI_INT, 1 - place, 3, 1, MPI_INT, halved);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, halved);
    right &= of_half[3] == 2 - rank;
    MPI_Win_free(&halved);
  }

  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 3 : 2, 7, &inter);
  int sent = 42;
  if (rank == 2) {
    MPI_Put(&sent, 1, MPI_INT, 3, 5, 1, MPI_INT, all);
    MPI_Win_flush(3, all);
    MPI_Send(NULL, 0, MPI_INT, 0, 3, inter);
    MPI_Put(&sent, 1, MPI_INT, 1, 6, 1, MPI_INT, all);
    MPI_Win_flush(1, all);
  }
  if (rank == 3) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
    MPI_Win_sync(all);
    right &= of_all[5] == 42;
  }
  MPI_Barrier(inter);
  MPI_Win_sync(all);
  right &= rank != 1 || of_all[6] == 42;
  MPI_Win_unlock_all(all);

  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  MPI_Win_free(&copied);
  MPI_Win_free(&all);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return right ? 0 : 1;
}
