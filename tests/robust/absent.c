/* Rank 1 makes no MPI call that commsan sees while rank 0 writes to its window more often than
 * commsan can remember, synchronises, and then both use what was written: correct, and to be
 * checked as far as that goes. With an argument, rank 0 is killed in the middle. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 100000 };

/* Not for commsan's eyes: polling by loads is a race. */
__attribute__((no_sanitize("thread"))) static void wait_for(volatile int *memory) {
  for (int flag; *memory != TIMES;) /* some libraries need to be called to get on */
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static int memory[4] __attribute__((aligned(64)));
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  if (rank == 0) {
    for (int i = 1; i <= TIMES; i++) {
      MPI_Put(&i, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
      MPI_Win_flush(1, window);
      if (argc > 1 && i == TIMES / 2) raise(SIGKILL);
    }
  } else if (argc == 1) {
    wait_for(memory);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Win_sync(window);
    printf("rank 1 has %d\n", *memory);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
