/* Puts, gets and atomics of OpenSHMEM between two PEs: a program that does nothing but one-sided
 * communication.
 *
 *   symmetric put|atomic SECONDS */
#include <shmem.h>
#include <string.h>

#include "measure.h"

enum { OPERATIONS = 8, DOUBLES = 8 };

static double *memory;
static long *words;
static int peer;

/* Each PE writes to the upper half of the other's memory and reads from the lower. */
static void puts_and_gets(int times) {
  static double out[OPERATIONS][DOUBLES], in[OPERATIONS][DOUBLES];
  for (int k = 0; k < times; k++) {
    for (int i = 0; i < OPERATIONS; i++)
      shmem_double_put(memory + (OPERATIONS + i) * DOUBLES, out[i], DOUBLES, peer);
    shmem_quiet();
    for (int i = 0; i < OPERATIONS; i++) shmem_double_get(in[i], memory + i * DOUBLES, DOUBLES, peer);
    shmem_quiet();
  }
}

/* Each PE adds to words of the other, and fetches one. */
static void atomics(int times) {
  for (int k = 0; k < times; k++) {
    for (int i = 0; i < OPERATIONS; i++) shmem_long_atomic_add(words + i, 1, peer);
    shmem_quiet();
    for (int i = 0; i < OPERATIONS; i++) shmem_long_atomic_fetch_add(words + OPERATIONS + i, 1, peer);
  }
}

int main(int argc, char **argv) {
  shmem_init();
  int pes = shmem_n_pes();
  if (argc != 3 || pes != 2) {
    fprintf(stderr, "usage: oshrun -n 2 symmetric put|atomic SECONDS\n");
    shmem_global_exit(2);
  }
  peer = 1 - shmem_my_pe();
  memory = shmem_calloc(2 * OPERATIONS * DOUBLES, sizeof *memory);
  words = shmem_calloc(2 * OPERATIONS, sizeof *words);
  shmem_barrier_all();
  print_measured(measure(strcmp(argv[1], "put") ? atomics : puts_and_gets, atof(argv[2])));
  shmem_barrier_all();
  shmem_free(words);
  shmem_free(memory);
  shmem_finalize();
  return 0;
}
