// Each rank sends while a task receives: if the send waits, another thread goes on with the task,
// though here it is the same one that comes to it first.
//# flags: -fopenmp
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int provided, rank, in = 0, out = 7;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    {
#pragma omp task shared(in)
      MPI_Recv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
#pragma omp taskwait
    }
    if (omp_get_thread_num() == 1) usleep(200000);
  }
  MPI_Finalize();
  return in == 7 ? 0 : 1;
}
