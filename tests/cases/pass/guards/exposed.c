/* The owner of a window loads from and stores to it between fences and while it is posted, where no
   other rank puts anything, and where others do once the epoch has ended. Nobody has recompiled
   it. */
//# hooks: none
//# options: --guards=windows --guard-budget 100
#include <mpi.h>
#include <stdlib.h>

enum { COUNT = 1 << 13, HALF = COUNT / 2, ROUNDS = 3 };

static int epochs(double *memory, MPI_Win window, MPI_Group other, int rank) {
  double *part = malloc(HALF * sizeof *part);
  int wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < HALF; i++) part[i] = rank + round + i;
    MPI_Win_fence(0, window);
    /* The first half is the owner's. */
    for (int i = 0; i < HALF; i++) memory[i] = round;
    MPI_Put(part, HALF, MPI_DOUBLE, 1 - rank, HALF, HALF, MPI_DOUBLE, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    for (int i = 0; i < HALF; i++) wrong += memory[HALF + i] != 1 - rank + round + i;
    MPI_Win_post(other, 0, window);
    memory[HALF / 2] = -1;
    MPI_Win_start(other, 0, window);
    MPI_Put(part, 8, MPI_DOUBLE, 1 - rank, COUNT - 8, 8, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    wrong += memory[HALF / 2] != -1;
    MPI_Win_wait(window);
    wrong += memory[COUNT - 1] != 1 - rank + round + 7;
  }
  free(part);
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong, other_rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other_rank = 1 - rank;
  MPI_Group all, other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &other_rank, &other);
  double *own = calloc(COUNT, sizeof *own), *allocated;
  MPI_Win window;
  MPI_Win_create(own, COUNT * sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  wrong = epochs(own, window, other, rank);
  MPI_Win_free(&window);
  free(own);
  MPI_Win_allocate(COUNT * sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &window);
  wrong += epochs(allocated, window, other, rank);
  MPI_Win_free(&window);
  MPI_Group_free(&all);
  MPI_Group_free(&other);
  MPI_Finalize();
  return wrong;
}
