/* Launches kernels and nothing else: launches BYTES SECONDS.
 *
 * Each reads as many bytes as it writes. Two pairs of arrays take turns, as in programs that
 * iterate. The simulated device runs nothing before somebody waits for it, which nobody does: a
 * launch takes as long as putting it into its stream. */
#include "measure.h"
#include <cuda_runtime.h>

static __global__ void relax(float *to, const float *from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] * 0.5f;
}

static float *arrays[2];
static int length;

static void launch(int times) {
  for (int i = 0; i < times; i++)
    relax<<<(length + 255) / 256, 256>>>(arrays[i % 2], arrays[1 - i % 2], length);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  size_t bytes = strtoul(argv[1], NULL, 10);
  length = (int)(bytes / sizeof(float));
  for (int i = 0; i < 2; i++)
    if (cudaMalloc((void **)&arrays[i], bytes) != cudaSuccess) return 1;
  print_measured(measure(launch, atof(argv[2])));
  if (cudaGetLastError() != cudaSuccess) return 1;
  MPI_Finalize();
  return 0;
}
