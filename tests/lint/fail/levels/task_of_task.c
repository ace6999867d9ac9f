/* A task hands its work on to another one: who waits for his own tasks does not wait for that. */
#include <mpi.h>

static double in[100], out[100];

static void publish(int peer) {
#pragma omp task
  MPI_Send(out, 100, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ CS-THR-02 access
  out[0] += in[0];
}

int main(int argc, char **argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided); //~ CS-THR-02 cause
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    publish(1 - rank);
#pragma omp taskwait
    MPI_Recv(in, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-THR-02 operation
  }
  MPI_Finalize();
}
