// Kernels whose addresses are linear in thread numbers and iterations, and some that are not.

__global__ void straight(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 2.0f;
}

__global__ void early_return(const float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  b[i] = a[i + 1] - a[i];
}

__global__ void unsigned_index(float *a, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.0f;
}

__global__ void long_index(double *a, long n) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 3.0;
}

__global__ void unguarded(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }

__global__ void reversed(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[n - 1 - i] = i;
}

// Rows of a grid with a halo around it.
__global__ void stencil(const double *from, double *to, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x < nx - 1 && y < ny - 1)
    to[y * nx + x] = from[y * nx + x - 1] + from[y * nx + x + 1] + from[(y - 1) * nx + x] +
                     from[(y + 1) * nx + x];
}

// The first inner row and column, as they are packed for neighbours.
__global__ void pack_row(const double *grid, double *row, int nx) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x > 0 && x < nx - 1) row[x - 1] = grid[nx + x];
}

__global__ void pack_column(const double *grid, double *column, int nx, int ny) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y < ny) column[y] = grid[y * nx + 1];
}

__global__ void grid_stride(float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    a[i] += 1.0f;
}

__global__ void serial(int *a, int n) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    for (int i = 0; i < n; i++) a[i] = a[i] + i;
}

__global__ void row_per_thread(const int *a, int *sums, int nx, int ny) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= ny) return;
  int sum = 0;
  for (int x = 0; x < nx; x++) sum += a[y * nx + x];
  sums[y] = sum;
}

struct Field {
  int nx;
  double *data;
  int ny;
};

__global__ void of_struct(Field f, double value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < f.nx * f.ny) f.data[i] = value;
}

__global__ void vectors(const float4 *a, float4 *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}

__global__ void bytes(unsigned char *a, long offset) { a[offset + 2 * threadIdx.x] = 1; }

__global__ void gather(const int *index, const float *from, float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[index[i]];
}

__global__ void sometimes(const int *flags, int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && flags[i]) a[i] = 0;
}

__global__ void either(int *a, int *b, int which) {
  int *p = which ? a : b;
  p[threadIdx.x] = which;
}

__global__ void only_even(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0 && i < n) a[i] = 1;
}

__global__ void halves(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) a[i] = a[i + n / 2];
}

__global__ void lists(int **rows, int n) {
  int i = threadIdx.x;
  if (i < n) rows[i][0] = n;
}

__device__ __noinline__ void put(int *a, int i, int value) { a[i] = value; }
__device__ __noinline__ int get(const int *a, int i) { return a[i]; }

__global__ void calls(int *a, const int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) put(a, i, get(b, i + 1));
}

__device__ int counters[64];

__global__ void counts(int n) {
  int i = threadIdx.x;
  if (i < n) atomicAdd(&counters[i], 1);
}

__global__ void tiles(const float *a, float *b, int n) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? a[i] : 0.0f;
  __syncthreads();
  if (i < n) b[i] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void breaks(const int *a, int *b, int n) {
  for (int i = 0; i < n; i++) {
    if (a[i] == 7) break;
    b[i] = 1;
  }
}

__global__ void columns(double *grid, int nx, int ny) {
  int y = threadIdx.x;
  if (y < ny)
    for (int x = 2; x < nx; x += 3) grid[y * nx + x] = 0;
}

__global__ void triangle(int *a, int n) {
  int y = threadIdx.x;
  if (y < n)
    for (int x = 0; x < y; x++) a[y * n + x] = x;
}
