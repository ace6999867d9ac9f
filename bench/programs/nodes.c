/* Two ranks of different nodes, in a program that makes windows: what it costs to follow their
 * order.
 *
 *   nodes pingpong|allreduce|fence|lock SECONDS */
#include "measure.h"
#include <string.h>

static int rank;
static MPI_Win window;

static void pingpong(int times) {
  for (int k = 0; k < times; k++) {
    if (rank == 0) MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
}

static void allreduce(int times) {
  for (int k = 0; k < times; k++) {
    double sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void put(void) {
  static const double value = 1;
  MPI_Put(&value, 1, MPI_DOUBLE, 1 - rank, 0, 1, MPI_DOUBLE, window);
}

static void fence(int times) {
  for (int k = 0; k < times; k++) {
    put();
    MPI_Win_fence(0, window);
  }
}

static void lock(int times) {
  for (int k = 0; k < times; k++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, window);
    put();
    MPI_Win_unlock(1 - rank, window);
  }
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*work)(int); } kinds[] = {
      {"pingpong", pingpong}, {"allreduce", allreduce}, {"fence", fence}, {"lock", lock}};
  int ranks, kind = 0;
  double *memory;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (kind < 4 && (argc != 3 || strcmp(argv[1], kinds[kind].name) != 0)) kind++;
  if (ranks != 2 || kind == 4) {
    fprintf(stderr, "usage: mpirun -n 2 nodes pingpong|allreduce|fence|lock SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  if (kind < 3) MPI_Win_fence(0, window);
  print_measured(measure(kinds[kind].work, atof(argv[2])));
  if (kind < 3) MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
