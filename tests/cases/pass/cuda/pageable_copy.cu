// cudaMemcpy has read pageable memory when it returns, and written it; what it has copied from
// there is taken to be in place for streams that do not wait for the default stream, for MPI and,
// in managed memory, for the host.
//# np: 1
//# mpi: mpich
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

__global__ void increment(int *p) { p[threadIdx.x] += 1; }

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  int *p;
  cudaMalloc(&p, N * sizeof *p);
  static int host[N];
  for (int i = 0; i < N; i++) host[i] = 1;
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  host[7] = 2;
  increment<<<1, N>>>(p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  bad = differ(host, 2);

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  increment<<<1, N, 0, stream>>>(p);
  cudaStreamSynchronize(stream);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  bad += differ(host, 3);

  for (int i = 0; i < N; i++) host[i] = 4;
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  MPI_Allreduce(MPI_IN_PLACE, p, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  static int copy[N];
  cudaMemcpy(copy, p, sizeof copy, cudaMemcpyDeviceToHost);
  bad += differ(copy, 4);

  int *managed;
  cudaMallocManaged(&managed, N * sizeof *managed);
  cudaMemcpy(managed, p, N * sizeof *managed, cudaMemcpyDefault);
  bad += differ(managed, 4);
  cudaMemset(managed, 0, N * sizeof *managed);
  bad += differ(managed, 0);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
