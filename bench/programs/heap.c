/* Allocating and freeing and nothing else: blocks of 16 bytes to 4 KiB, of which some hundred live
 * at a time: the seconds of one block.
 *
 *   heap SECONDS */
#include "measure.h"

enum { LIVE = 128 };

static void *blocks[LIVE];
static unsigned seed = 1;

static void churn(int times) {
  for (int k = 0; k < times; k++) {
    seed = seed * 1664525 + 1013904223;
    unsigned at = seed >> 25, size = 16u << (seed >> 20) % 9;
    free(blocks[at]);
    blocks[at] = malloc(size - (seed >> 16) % 16);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) {
    fprintf(stderr, "usage: mpirun -n 1 heap SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  print_measured(measure(churn, atof(argv[1])));
  for (int k = 0; k < LIVE; k++) free(blocks[k]);
  MPI_Finalize();
  return 0;
}
