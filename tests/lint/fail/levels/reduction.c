// All threads wait at the end of a loop with a reduction, unless told otherwise.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int sum = 0;
#pragma omp parallel
  {
#pragma omp single nowait
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 8; i++) sum += i;
#pragma omp single
    MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); //~ CS-THR-02 operation
  }
  value = sum;
  MPI_Finalize();
  return 0;
}
