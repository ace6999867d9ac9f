/* Puts, gets and flushes between two ranks: a program that does nothing but one-sided
 * communication.
 *
 *   traffic SECONDS */
#include "measure.h"

enum { OPERATIONS = 8, DOUBLES = 8 };

static int rank;
static MPI_Win window;

/* Each rank writes to the upper half of the other's memory and reads from the lower. */
static void rounds(int times) {
  static double out[OPERATIONS][DOUBLES], in[OPERATIONS][DOUBLES];
  const int peer = 1 - rank;
  for (int k = 0; k < times; k++) {
    for (int i = 0; i < OPERATIONS; i++)
      MPI_Put(out[i], DOUBLES, MPI_DOUBLE, peer, (OPERATIONS + i) * DOUBLES, DOUBLES, MPI_DOUBLE,
              window);
    MPI_Win_flush(peer, window);
    for (int i = 0; i < OPERATIONS; i++)
      MPI_Get(in[i], DOUBLES, MPI_DOUBLE, peer, i * DOUBLES, DOUBLES, MPI_DOUBLE, window);
    MPI_Win_flush(peer, window);
  }
}

int main(int argc, char **argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks != 2) {
    fprintf(stderr, "usage: mpirun -n 2 traffic SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double *memory;
  MPI_Win_allocate(2 * OPERATIONS * DOUBLES * sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(0, window);
  print_measured(measure(rounds, atof(argv[1])));
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
