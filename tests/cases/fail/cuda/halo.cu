// The interior's kernel writes the boundary that is sent at the same time.
#include <mpi.h>
#include <cstdio>

constexpr int N = 64;

// Adds to each element from `begin` on its neighbours.
__global__ void smooth(int *next, const int *now, int begin) {
  int i = begin + threadIdx.x;
  next[i] = now[i - 1] + now[i] + now[i + 1] + 1;
}

// The same for both ranks' elements, on the host.
static int *reference(int steps) {
  static int now[2 * N + 2], next[2 * N + 2];
  for (int step = 0; step < steps; step++) {
    for (int i = 1; i <= 2 * N; i++) next[i] = now[i - 1] + now[i] + now[i + 1] + 1;
    for (int i = 1; i <= 2 * N; i++) now[i] = next[i];
  }
  return now;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;
  int bad = 0;

  cudaStream_t inner, outer;
  cudaStreamCreateWithFlags(&inner, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&outer, cudaStreamNonBlocking);
  // Elements 0 and N + 1 are the neighbours'.
  int *now, *next;
  cudaMalloc(&now, (N + 2) * sizeof *now);
  cudaMalloc(&next, (N + 2) * sizeof *next);
  cudaMemset(now, 0, (N + 2) * sizeof *now);
  cudaMemset(next, 0, (N + 2) * sizeof *next);
  cudaDeviceSynchronize();
  // Rank 0 has its neighbour above, rank 1 below.
  int send = rank == 0 ? N : 1, receive = rank == 0 ? N + 1 : 0;
  for (int step = 0; step < 4; step++) {
    smooth<<<1, 1, 0, outer>>>(next, now, send); //~ CS-GPU-01 operation
    smooth<<<1, N, 0, inner>>>(next, now, 1); //~ CS-GPU-01 access //~ CS-GPU-03 operation
    cudaStreamSynchronize(outer);
    MPI_Sendrecv(next + send, 1, MPI_INT, peer, 0, next + receive, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ CS-GPU-03 access
    cudaStreamSynchronize(inner);
    int *former = now;
    now = next;
    next = former;
  }
  static int host[N + 2];
  cudaMemcpy(host, now, sizeof host, cudaMemcpyDeviceToHost);
  int *expected = reference(4);
  for (int i = 1; i <= N; i++) bad += host[i] != expected[rank * N + i];

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
