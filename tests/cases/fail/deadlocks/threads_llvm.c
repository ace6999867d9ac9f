// As threads_tasks.c, with the OpenMP runtime of LLVM.
//# np: 2
//# cc: clang
//# flags: -fopenmp -Wl,-rpath,/usr/lib/llvm-19/lib
//# options: --stuck-after 1
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    int value = rank, other = 0;
#pragma omp task shared(other)
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-DLK-01 wait
#pragma omp taskwait
    MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
