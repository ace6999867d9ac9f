// A kernel that is compiled for debugging reads the halo while it is being received.
// Its arguments go through memory, so that only its execution tells what it touches.
//# flags: -G
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

struct Grid {
  int *now, *next;
};

__global__ void add(Grid grid) {
  int i = threadIdx.x;
  grid.next[i] = grid.now[i] + grid.now[i + 1];
}

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  Grid grid;
  int *edge;
  cudaMalloc(&grid.now, (N + 1) * sizeof(int));
  cudaMalloc(&grid.next, N * sizeof(int));
  cudaMalloc(&edge, sizeof(int));
  cudaMemset(grid.now, 0, (N + 1) * sizeof(int));
  cudaMemset(edge, 0, sizeof(int));
  cudaDeviceSynchronize();
  MPI_Request request;
  MPI_Irecv(grid.now, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request); //~ CS-GPU-04 operation
  add<<<1, N, 0, stream>>>(grid); //~ CS-GPU-04 access
  MPI_Send(edge, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  cudaStreamSynchronize(stream);
  int bad = wrong(grid.next, 0);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
