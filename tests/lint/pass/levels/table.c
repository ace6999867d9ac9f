/* One of several functions is called by all threads at once, which one the input says: none of them
 * calls MPI. */
#include <mpi.h>
#include <stdlib.h>

static double field[64], largest;

static void smooth(void) {
#pragma omp for
  for (int i = 1; i < 64; i++) field[i] = (field[i] + field[i - 1]) / 2;
}

static void reduce(void) {
  MPI_Allreduce(field, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void scale(void) {
#pragma omp single
  field[0] = largest;
}

typedef void phase(void);
static phase *const phases[] = {smooth, scale};

static void each_thread(phase *what) {
#pragma omp parallel
  what();
}

int main(int argc, char **argv) {
  int provided, first = argc > 1 ? atoi(argv[1]) % 2 : 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  each_thread(phases[first]);
  reduce();
  MPI_Finalize();
  return 0;
}
