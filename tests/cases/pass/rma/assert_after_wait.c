// A store before MPI_Win_wait is older than the synchronisation that MPI_MODE_NOSTORE is about.
//# np: 2
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank, memory[8] = {0}, value = 0;
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Group all, other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &peer, &other);

  for (int i = 0; i < 2; i++) {
    if (rank == 0) {
      MPI_Win_post(other, i == 1 ? MPI_MODE_NOSTORE : 0, win);
      if (i == 0)
        memory[4] = 1;
      MPI_Win_wait(win);
    } else {
      MPI_Win_start(other, 0, win);
      MPI_Get(&value, 1, MPI_INT, 0, i == 1 ? 4 : 0, 1, MPI_INT, win);
      MPI_Win_complete(win);
    }
  }

  MPI_Group_free(&other);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  MPI_Finalize();
  return rank == 1 && value != 1;
}
