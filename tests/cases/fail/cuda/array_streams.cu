// A row of an array is copied to in one stream, and the same one is copied from in another.
//# np: 1
//# mpi: openmpi
#include <mpi.h>

constexpr int N = 32;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  float *in, *out;
  cudaMallocHost(&in, N * sizeof *in);
  cudaMallocHost(&out, N * sizeof *out);
  for (int i = 0; i < N; i++) in[i] = 1;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, N, 4);
  cudaMemcpy2DToArrayAsync(array, 0, 2, in, sizeof *in * N, sizeof *in * N, 1, cudaMemcpyHostToDevice, one); //~ CS-GPU-01 operation
  cudaMemcpy2DFromArrayAsync(out, sizeof *out * N, array, 0, 2, sizeof *out * N, 1, cudaMemcpyDeviceToHost, other); //~ CS-GPU-01 access
  cudaDeviceSynchronize();
  cudaFreeArray(array);
  cudaFreeHost(in);
  cudaFreeHost(out);
  MPI_Finalize();
  return 0;
}
