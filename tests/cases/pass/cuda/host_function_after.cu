// What is in the stream after a host function finds what that has written; so does the host after
// it.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

// Elements in device memory that have another value.
static int wrong(const int *p, int value) {
  static int host[N];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  for (int i = 0; i < N; i++) count += host[i] != value;
  return count;
}

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

static int *shared;

static void prepare(void *) {
  for (int i = 0; i < N; i++) shared[i] = 3;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *p;
  cudaMalloc(&p, N * sizeof *p);
  cudaMallocHost(&shared, N * sizeof *shared);
  cudaLaunchHostFunc(stream, prepare, nullptr);
  cudaMemcpyAsync(p, shared, N * sizeof *p, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
  bad = differ(shared, 3) + wrong(p, 3);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
