// Kernels as programs with MPI and CUDA have them: solvers, halos, waits of tests for races.

// Delays: whatever they compute, they end.
__global__ void delayed_by_clock(int *a, int n, long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {}
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

__global__ void delayed_by_sleep(int *a, int n) {
  for (int i = 0; i < 10; i++) __nanosleep(1000);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

__global__ void delayed_by_parameter(int *a, int n, int rounds) {
  for (int r = 0; r < rounds; r++) __nanosleep(100);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

__device__ __noinline__ void wait_for(long long cycles) {
  long long start = clock64(), now = start;
  do {
    now = clock64();
    if (now < start) return;
  } while (now - start < cycles);
}

__global__ void delayed_in_function(int *a, int n) {
  wait_for(100);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

__global__ void delayed_in_some(int *a, int n, int which) {
  if (threadIdx.x == which)
    for (int r = 0; r < 5; r++) __nanosleep(100);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i;
}

__global__ void delayed_after(int *a, int n, long long cycles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
    a[i] = i;
  }
}

// Sums of blocks, in shared memory or by shuffling.
__global__ void sum_of_blocks(const double *a, double *sums, int n) {
  __shared__ double part[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? a[i] : 0.0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void dot(const double *a, const double *b, double *sum, int n) {
  __shared__ double part[64];
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    mine += a[i] * b[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x >> 1; half > 0; half >>= 1) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

// Matrices and grids.
__global__ void sparse(const int *rows, const int *columns, const double *values, const double *x,
                       double *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    double sum = 0;
    for (int j = rows[row]; j < rows[row + 1]; j++) sum += values[j] * x[columns[j]];
    y[row] = sum;
  }
}

__global__ void dense(const double *m, const double *x, double *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0;
  for (int j = 0; j < n; j++) sum += m[row * n + j] * x[j];
  y[row] = sum;
}

__global__ void interior(const double *__restrict__ from, double *__restrict__ to, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= 1 && x < nx - 1 && y >= 1 && y < ny - 1)
    to[y * nx + x] = 0.25 * (from[y * nx + x - 1] + from[y * nx + x + 1] +
                             from[(y - 1) * nx + x] + from[(y + 1) * nx + x]);
}

__global__ void interior_3d(const double *from, double *to, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  int z = blockIdx.z * blockDim.z + threadIdx.z + 1;
  if (x < nx - 1 && y < ny - 1 && z < nz - 1)
    to[(z * ny + y) * nx + x] =
        from[((z - 1) * ny + y) * nx + x] + from[((z + 1) * ny + y) * nx + x];
}

__global__ void columns_up(const double *from, double *to, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny)
    for (int z = 1; z < nz - 1; z++) to[z * nx * ny + y * nx + x] = from[z * nx * ny + y * nx + x];
}

__global__ void pack(const double *grid, double *buffer, int count, int stride) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) buffer[i] = grid[i * stride];
}

__global__ void unpack_faces(double *grid, const double *left, const double *right, int nx, int ny) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y < ny) {
    grid[y * nx] = left[y];
    grid[y * nx + nx - 1] = right[y];
  }
}

// By threads, blocks, types.
__global__ void first_thread(int *a, int value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *a = value;
}

__global__ void one_element(int *a, int at) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == at) a[i] = 1;
}

__global__ void whole_loop(int *a, int n) {
  for (int i = 0; i < n; i++) a[i] = i;
}

template <typename T> __global__ void scale(T *a, T factor, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) a[i] *= factor;
}
template __global__ void scale<double>(double *, double, size_t);

struct View {
  double *data;
  int nx, ny;
  __device__ double &operator()(int x, int y) { return data[y * nx + x]; }
};

__global__ void of_view(View v) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < v.nx && y < v.ny) v(x, y) = 1;
}

template <typename F> __global__ void for_each(F f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

void use(int *a, int *b, int n) {
  for_each<<<1, 1>>>([=] __device__(int i) { b[i] = a[i] + 1; }, n);
}

__device__ int total;
__managed__ int shared_total;

__global__ void of_variables(int n) {
  if (threadIdx.x == 0) {
    total = n;
    shared_total = n;
  }
}

__constant__ double weights[8];

__global__ void of_constants(double *a, int n) {
  int i = threadIdx.x;
  if (i < n) a[i] = weights[1] * weights[i % 4];
}

__global__ void copies(char *to, const char *from) { memcpy(to + 64 * threadIdx.x, from, 64); }

__global__ void chosen(int *a, int *b, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (first)
    a[i] = 1;
  else
    b[i] = 2;
}

__global__ void both_ways(const int *flag, int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (flag[i])
      a[i] = 1;
    else
      a[i] = 2;
  }
}

// Fixed values on the boundary.
__global__ void boundary(const double *from, double *to, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1)
    to[y * nx + x] = 1.0;
  else
    to[y * nx + x] = from[y * nx + x] * 0.5;
}

__global__ void signs(const double *a, int *b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (a[i] > 0) {
      b[i] = 1;
      __nanosleep(1);
    } else if (a[i] < 0) {
      __nanosleep(2);
      b[i] = -1;
    } else {
      __nanosleep(3);
      b[i] = 0;
    }
  }
}

__global__ void sum_of_warps(const double *a, double *sum, double *sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double mine = i < n ? a[i] : 0;
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0u, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
  if (threadIdx.x / 32 == 0) sums[blockIdx.x] = mine;
  if (threadIdx.x % 2 == 1) sums[100] = mine;
}

__global__ void one_of_two(const int *flag, int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (flag[i])
      a[i] = 1;
    else
      a[i + n] = 2;
  }
}

__global__ void checked(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (a[i] != 7) printf("thread %d: %d\n", i, a[i]);
    a[i] = 7;
  }
}

// One index for the inner points of a grid with a halo.
__global__ void flattened(const double *from, double *to, int nx, int ny) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nx * ny; k += gridDim.x * blockDim.x) {
    int i = k % nx, j = k / nx;
    to[(j + 1) * (nx + 2) + i + 1] = from[k];
  }
}

__global__ void flattened_3d(const double *from, double *to, int nx, int ny) {
  const int nz = 2;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nx * ny * nz; k += gridDim.x * blockDim.x) {
    int x = k % nx, y = k / nx % ny, z = k / (nx * ny);
    to[(x * ny + y) * nz + z] = from[k];
  }
}

__global__ void flattened_inside(double *a, int nx, int ny) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < nx * ny; k += gridDim.x * blockDim.x) {
    int i = k % nx, j = k / nx;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) a[k] = 0;
  }
}

// The last row is not complete.
__global__ void flattened_in_part(double *a, int nx, int n) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) a[k / nx * (nx + 1) + k % nx] = 0;
}
