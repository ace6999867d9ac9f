/* A solver that is given its steps as a structure of pointers. */
#include <mpi.h>

struct steps {
  void (*inner)(double *field, int cells);
  void (*outer)(double *field, int cells);
};

static void smooth(double *field, int cells) {
#pragma omp for
  for (int i = 1; i < cells; i++) field[i] = (field[i] + field[i - 1]) / 2;
}

static void exchange(double *field, int cells) {
  MPI_Sendrecv_replace(&field[cells - 1], 1, MPI_DOUBLE, 0, 0, 0, 0, MPI_COMM_SELF, //~ CS-THR-02 access
                       MPI_STATUS_IGNORE);
}

static void solve(const struct steps *steps, double *field, int cells) {
  for (int step = 0; step < 3; step++) {
#pragma omp parallel
    {
      steps->outer(field, cells);
    }
    steps->inner(field, cells);
  }
}

int main(int argc, char **argv) {
  static double field[64];
  const struct steps steps = {smooth, exchange};
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  solve(&steps, field, 64);
  MPI_Finalize();
  return 0;
}
