/* A stencil on two simulated devices that read each other's edges: peers WIDTH ROWS STEPS. */
#include "measure.h"
#include <cuda_runtime.h>

static __global__ void relax(const float *grid, float *next, const float *other, int width, int rows, int top) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < 1 || x >= width - 1) return;
  float up = y > 0 ? grid[(y - 1) * width + x] : top ? 0 : other[(rows - 1) * width + x];
  float down = y < rows - 1 ? grid[(y + 1) * width + x] : top ? other[x] : 0;
  next[y * width + x] = 0.25f * (up + down + grid[y * width + x - 1] + grid[y * width + x + 1]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return 2;
  int width = atoi(argv[1]), rows = atoi(argv[2]), steps = atoi(argv[3]);
  float *grid[2], *next[2];
  for (int d = 0; d < 2; d++) {
    cudaSetDevice(d);
    cudaDeviceEnablePeerAccess(1 - d, 0);
    for (float **array : {&grid[d], &next[d]}) {
      if (cudaMalloc((void **)array, (size_t)width * rows * sizeof(float)) != cudaSuccess) return 1;
      cudaMemset(*array, 0, (size_t)width * rows * sizeof(float));
    }
    cudaDeviceSynchronize();
  }
  double begin = MPI_Wtime();
  for (int step = 0; step < steps; step++) {
    for (int d = 0; d < 2; d++) {
      cudaSetDevice(d);
      relax<<<dim3((width + 127) / 128, rows), 128>>>(grid[d], next[d], grid[1 - d], width, rows, d == 0);
    }
    for (int d = 0; d < 2; d++) {
      cudaSetDevice(d);
      if (cudaDeviceSynchronize() != cudaSuccess) return 1;
      float *used = grid[d];
      grid[d] = next[d], next[d] = used;
    }
  }
  print_measured(MPI_Wtime() - begin);
  MPI_Finalize();
  return 0;
}
