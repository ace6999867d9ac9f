// Messages by the master thread need MPI_THREAD_FUNNELED, by any one thread more (Listing 1.3).
#include <mpi.h>

static int in, out;

static void exchange(int wanted) {
  out++;
  if (wanted) {
#pragma omp parallel
    {
      out++;
#pragma omp single
      {
        MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-01 access
        MPI_Send(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ CS-THR-01 access
      }
    }
  }
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  exchange(argc > 1);
  MPI_Finalize();
  return 0;
}
