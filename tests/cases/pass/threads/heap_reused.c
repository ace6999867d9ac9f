// Threads get memory from the heap that other threads have sent from and given back.
//# flags: -fopenmp
#include <malloc.h>
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

enum { N = 512, ROUNDS = 100 };

int main(int argc, char **argv) {
  int provided, rank, wrong = 0;
  mallopt(M_ARENA_MAX, 1);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

#pragma omp parallel num_threads(3) reduction(+ : wrong)
  for (int round = 0; round < ROUNDS; round++) {
    int *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    for (int i = 0; i < N; i++) out[i] = round + i;
    MPI_Request requests[2];
    const int tag = omp_get_thread_num();
    MPI_Irecv(in, N, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, N, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) wrong += in[i] != round + i;
    free(in);
    free(out);
  }
  MPI_Finalize();
  return wrong != 0;
}
