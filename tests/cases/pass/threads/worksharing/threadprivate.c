// Iterations of one thread share its variables, and what these point to, from region to region.
//# flags: -fopenmp
//# np: 1
#include <mpi.h>
#include <unistd.h>

enum { N = 24, THREADS = 2, SIZE = 64 };
static const int out[SIZE] = {7};
static int scratch[THREADS][SIZE], sum, next;
static int own[SIZE], *slot;
#pragma omp threadprivate(own, slot)

static int talk(int *memory) {
  int seen = memory[0];
  memory[0] = 1;
  MPI_Sendrecv(out, SIZE, MPI_INT, 0, 0, memory, SIZE, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  usleep(100);
  return seen == 0 || seen == 7;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#pragma omp parallel num_threads(THREADS)
#pragma omp critical
  slot = scratch[next++];
#pragma omp parallel for schedule(dynamic) num_threads(THREADS) reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += talk(own) + talk(slot);
  MPI_Finalize();
  return sum == 2 * N ? 0 : 1;
}
