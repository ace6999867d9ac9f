// A task waits for a message of the other rank, which a task of that one sends that takes its time:
// threads in barriers and those that wait for tasks run it.
//# np: 2
//# cc: gcc
//# flags: -fopenmp
//# options: --stuck-after 1
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    int value = rank, other = 0;
#pragma omp task shared(other)
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task
    {
      sleep(3);
      MPI_Send(&value, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    }
#pragma omp taskwait
  }
  MPI_Finalize();
  return 0;
}
