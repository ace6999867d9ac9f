// The same region of the next round can be entered while somebody is still in it.
#include <mpi.h>

static int value;

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#pragma omp parallel
  {
    for (int i = 0; i < 3; i++) {
#pragma omp single nowait
      MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
    }
  }
  MPI_Finalize();
  return 0;
}
