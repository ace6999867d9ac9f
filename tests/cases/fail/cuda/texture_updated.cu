// A stencil reads one array by a texture and writes another by a surface, in turn, in two streams
// without order.
//# np: 2
#include <mpi.h>
#include <cstdio>
#include <utility>

constexpr int N = 64;

__global__ void relax(cudaTextureObject_t from, cudaSurfaceObject_t to) {
  int x = threadIdx.x, y = blockIdx.x;
  float sum = tex2D<float>(from, x - 0.5f, y + 0.5f) + tex2D<float>(from, x + 1.5f, y + 0.5f);
  surf2Dwrite(0.5f * sum, to, x * sizeof(float), y);
}

struct Grid {
  cudaArray_t array;
  cudaTextureObject_t texture;
  cudaSurfaceObject_t surface;

  Grid() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, N, N, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
  }
  ~Grid() {
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
  }
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, bad = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    Grid grids[2];
    cudaStream_t streams[2];
    for (auto &stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    static float host[N][N], row[N], other[N];
    for (auto &line : host)
      for (float &x : line) x = 1;
    cudaMemcpy2DToArray(grids[0].array, 0, 0, host, sizeof host[0], sizeof host[0], N, cudaMemcpyHostToDevice);
    relax<<<N, N, 0, streams[0]>>>(grids[0].texture, grids[1].surface); //~ CS-GPU-01 operation
    relax<<<N, N, 0, streams[1]>>>(grids[1].texture, grids[0].surface); //~ CS-GPU-01 access
    cudaDeviceSynchronize();
    cudaMemcpy2DFromArray(row, sizeof row, grids[0].array, 0, 0, sizeof row, 1, cudaMemcpyDeviceToHost);
    MPI_Sendrecv(row, N, MPI_FLOAT, (rank + 1) % size, 0, other, N, MPI_FLOAT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (float x : other) bad += x != 1;
  }
  MPI_Finalize();
  return 0;
}
