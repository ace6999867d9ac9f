// Locks that the program makes of atomic variables, and turns that it takes by them.
#include <mpi.h>
#include <omp.h>
#include <stdatomic.h>

static int value, arrived;
static volatile int ready;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static atomic_int turn;

static void await(void) {
  while (ready != omp_get_thread_num()) {
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
    int me = omp_get_thread_num(), first;
    while (atomic_flag_test_and_set(&taken)) {
    }
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    atomic_flag_clear(&taken);
#pragma omp barrier
#pragma omp atomic capture
    first = arrived++;
    if (first == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#pragma omp barrier
    while (atomic_load(&turn) != me) {
    }
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    atomic_store(&turn, me + 1);
#pragma omp barrier
    await();
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    ready++;
  }
  MPI_Finalize();
  return 0;
}
