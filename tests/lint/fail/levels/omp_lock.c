// A lock lets one thread in at a time.
#include <mpi.h>
#include <omp.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  omp_lock_t lock, other;
  omp_init_lock(&lock);
  omp_init_lock(&other);
#pragma omp parallel
  {
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
    omp_set_lock(&lock);
    value++;
    omp_unset_lock(&lock);
    while (!omp_test_lock(&other)) {
    }
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    omp_unset_lock(&other);
  }
  MPI_Finalize();
  return 0;
}
