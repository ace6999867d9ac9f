// What a step of a batch job may do, each with its corrected twin: see slurm.rs, nodes.rs.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size, values[2];

// Both ranks receive before they send; "exchange" does it in one call.
static void deadlock(int is_right) {
  int other = rank ^ 1;
  if (is_right) {
    MPI_Sendrecv(&values[0], 1, MPI_INT, other, 0, &values[1], 1, MPI_INT, other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&values[1], 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&values[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  }
}

// Each rank takes the next one for the root; "collective" agrees on rank 0.
static void mismatch(int is_right) {
  MPI_Bcast(values, 1, MPI_INT, is_right ? 0 : (rank + 1) % size, MPI_COMM_WORLD);
}

// Rank 0 writes to what it is sending; "kept" waits first. Then all go on for ever.
static void endless(int is_right) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    MPI_Isend(values, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    if (is_right) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    values[0] = 1;
  } else if (rank == 1) {
    MPI_Recv(values, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    puts("under way");
    fflush(stdout);
  }
  for (;;) {
    sleep(1);
  }
}

// A put to the same place as another rank's; "own_place" has one for each rank.
static void window(int is_right) {
  int *memory;
  MPI_Win win;
  MPI_Win_allocate(size * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&rank, 1, MPI_INT, 0, is_right ? rank : 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static const struct {
  const char *wrong, *right;
  void (*run)(int is_right);
} ways[] = {
    {"deadlock", "exchange", deadlock},
    {"mismatch", "collective", mismatch},
    {"race", "kept", endless},
    {"same_place", "own_place", window},
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *way = argc > 1 ? argv[1] : "";
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
    int is_right = !strcmp(way, ways[i].right);
    if (is_right || !strcmp(way, ways[i].wrong)) {
      ways[i].run(is_right);
    }
  }
  MPI_Finalize();
  return 0;
}
