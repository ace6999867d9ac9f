// Copies between host memories are done when they return, cudaMemcpyAsync, too.
//# np: 1
//# mpi: openmpi
#include <mpi.h>
#include <cstdio>

constexpr int N = 256;

// Elements that have another value.
static int differ(const int *p, int value) {
  int count = 0;
  for (int i = 0; i < N; i++) count += p[i] != value;
  return count;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  static int one[N], two[N];
  for (int i = 0; i < N; i++) one[i] = 1;
  cudaMemcpyAsync(two, one, sizeof one, cudaMemcpyHostToHost, stream);
  bad = differ(two, 1);
  for (int i = 0; i < N; i++) one[i] = 2;
  cudaMemcpy(two, one, sizeof one, cudaMemcpyHostToHost);
  bad += differ(two, 2);

  if (bad) printf("%d elements are wrong\n", bad);
  MPI_Finalize();
  return bad != 0;
}
