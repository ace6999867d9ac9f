// One-sided operations that take longer than a deadlock has to last, while their target waits in a
// barrier: nothing but time is in their way.
//# np: 2
//# flags: -rdynamic
//# options: --stuck-after 1
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

// MPI takes as long as it likes: these are called in place of the library's own.
int PMPI_Win_flush(int target, MPI_Win win) {
  sleep(4);
  int (*flush)(int, MPI_Win) = (int (*)(int, MPI_Win))dlsym(RTLD_NEXT, "PMPI_Win_flush");
  return flush(target, win);
}

int PMPI_Win_complete(MPI_Win win) {
  sleep(4);
  int (*complete)(MPI_Win) = (int (*)(MPI_Win))dlsym(RTLD_NEXT, "PMPI_Win_complete");
  return complete(win);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, one = 1, *memory;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win win;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(0, win);
  if (rank == 1) {
    MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);

  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int peer = 1 - rank;
  MPI_Group_incl(world, 1, &peer, &other);
  if (rank == 0) MPI_Win_post(other, 0, win);
  if (rank == 1) {
    MPI_Win_start(other, 0, win);
    MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Win_wait(win);

  MPI_Group_free(&other);
  MPI_Group_free(&world);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
