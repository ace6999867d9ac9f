// MPI in lambdas, called at once or kept in an object.
#include <mpi.h>

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int value = argc;
  auto send = [&value](int to) {
    MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
  };
#pragma omp parallel
  {
#pragma omp master
    send(1);
  }
  send(2);
  MPI_Finalize();
  return 0;
}
