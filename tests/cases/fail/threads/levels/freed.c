// A thread frees what another one uses: what it learns of that by a relaxed flag orders nothing.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

static int used;

int main(int argc, char **argv) {
  int provided, rank, in[2] = {0, 0}, out[2] = {7, 8}, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  #pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      MPI_Request request;
      MPI_Irecv(in, 1, pair, !rank, 0, copy, &request); //~ CS-THR-07 operation
      MPI_Send(out, 2, MPI_INT, !rank, 0, copy); //~ CS-THR-07 operation
      __atomic_store_n(&used, 1, __ATOMIC_RELAXED);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      wrong = in[0] != 7 || in[1] != 8;
    } else {
      while (!__atomic_load_n(&used, __ATOMIC_RELAXED)) usleep(10);
      MPI_Type_free(&pair); //~ CS-THR-07 access
      MPI_Comm_free(&copy); //~ CS-THR-07 access
    }
  }
  MPI_Finalize();
  return wrong;
}
