// Two threads probe for messages of one source and tag, and take what they find; or one after the
// other.
//# flags: -fopenmp
//# cc: gcc
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

static int turn;

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int values[4] = {1, 2, 3, 4};
  MPI_Request requests[4];
  for (int i = 0; i < 4; i++) MPI_Isend(values + i, 1, MPI_INT, 0, i / 3, MPI_COMM_SELF, requests + i);
  #pragma omp parallel num_threads(2)
  {
    int got = 0, found = 0, count;
    MPI_Status status;
    #pragma omp barrier
    if (omp_get_thread_num() == 0) {
      MPI_Message message;
      MPI_Mprobe(0, 0, MPI_COMM_SELF, &message, &status);
      MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
      MPI_Probe(0, 0, MPI_COMM_SELF, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      MPI_Recv(&got, count, MPI_INT, 0, status.MPI_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
      __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
      // What is of another tag may come in between.
      MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else {
      while (!__atomic_load_n(&turn, __ATOMIC_ACQUIRE)) usleep(10);
      while (!found) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &found, &status);
      MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    #pragma omp critical
    wrong += got == 0 || found < 0;
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return wrong;
}
