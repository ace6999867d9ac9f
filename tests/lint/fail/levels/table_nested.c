/* One of several functions is called by one thread, which one the input says: it may be the one
 * that all threads must come to. */
#include <mpi.h>
#include <stdlib.h>

static double field[64];

static void smooth(void) {
#pragma omp for //~ CS-OMP-01 access possible
  for (int i = 1; i < 64; i++) field[i] = (field[i] + field[i - 1]) / 2;
}

static void scale(void) { field[0] = 1; }

typedef void phase(void);
static phase *const phases[] = {smooth, scale};

int main(int argc, char **argv) {
  int provided, first = argc > 1 ? atoi(argv[1]) % 2 : 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#pragma omp parallel
  {
#pragma omp single //~ CS-OMP-01 cause possible
    phases[first]();
  }
  MPI_Bcast(field, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
