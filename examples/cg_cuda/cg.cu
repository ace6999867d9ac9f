// Heat conduction, one implicit step, solved by conjugate gradients on devices.
//
// (I + k L) u = u0 with a conductivity that varies from cell to cell. The grid is cut into blocks,
// one for each rank and device. What neighbours need of the search direction p is packed by a
// kernel, sent from the device's memory and unpacked by another, in a stream of their own, while
// the interior of A p is computed. Two dot products a step are summed on the device and then over
// all ranks.
//
// -DBREAK=n leaves out the n-th synchronisation, see README.md.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef BREAK
#define BREAK 0
#endif

#define CUDA(call) check(call, #call, __LINE__)

static void check(cudaError_t error, const char *call, int line) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "cg.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// A block of the grid with one layer of its neighbours' cells around it.
struct Block {
  int nx, ny;         // own cells
  int x, y;           // where they begin
  int all_x, all_y;   // cells of the whole grid

  __host__ __device__ int at(int i, int j) const { return (j + 1) * (nx + 2) + i + 1; }
  __host__ __device__ size_t cells() const { return static_cast<size_t>(nx + 2) * (ny + 2); }
};

constexpr double STEP = 4;

// Between a cell and its neighbour to the left or below; there is none across the border.
__host__ __device__ double conductivity(int x, int y, int other_x, int other_y, int all_x, int all_y) {
  if (other_x < 0 || other_y < 0 || other_x >= all_x || other_y >= all_y) return 0;
  return STEP / (1 + (x * 3 + other_x * 3 + y * 5 + other_y * 5) % 7);
}

__host__ __device__ double initial(int x, int y) { return 1 + (x * 7 + y * 13) % 11; }

// (A p) at a cell.
__host__ __device__ double apply(const Block &b, const double *p, int i, int j) {
  int x = b.x + i, y = b.y + j;
  double left = conductivity(x, y, x - 1, y, b.all_x, b.all_y);
  double right = conductivity(x, y, x + 1, y, b.all_x, b.all_y);
  double below = conductivity(x, y, x, y - 1, b.all_x, b.all_y);
  double above = conductivity(x, y, x, y + 1, b.all_x, b.all_y);
  return (1 + left + right + below + above) * p[b.at(i, j)] - left * p[b.at(i - 1, j)] -
         right * p[b.at(i + 1, j)] - below * p[b.at(i, j - 1)] - above * p[b.at(i, j + 1)];
}

constexpr int THREADS = 64;

// Adds a value of each thread of a block to `*sum`.
__device__ void add_up(double value, double *sum) {
  __shared__ double values[THREADS];
  values[threadIdx.x] = value;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, values[0]);
}

// Sets u = u0 and p = r = u0, from which r = u0 - A u is made.
__global__ void start(Block b, double *u, double *r, double *p) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= b.nx * b.ny) return;
  int i = k % b.nx, j = k / b.nx;
  u[b.at(i, j)] = r[b.at(i, j)] = p[b.at(i, j)] = initial(b.x + i, b.y + j);
}

// p = r = r - w and the square of r.
__global__ void first_direction(Block b, double *r, double *p, const double *w, double *rr) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  double square = 0;
  if (k < b.nx * b.ny) {
    int at = b.at(k % b.nx, k / b.nx);
    r[at] -= w[at];
    p[at] = r[at];
    square = r[at] * r[at];
  }
  add_up(square, rr);
}

// w = A p and p·w: of the cells that need no neighbour's, or of the others.
__global__ void multiply(Block b, double *w, const double *p, bool interior, double *pw) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  double product = 0;
  if (k < b.nx * b.ny) {
    int i = k % b.nx, j = k / b.nx;
    bool inside = i > 0 && j > 0 && i < b.nx - 1 && j < b.ny - 1;
    if (inside == interior) {
      w[b.at(i, j)] = apply(b, p, i, j);
      product = p[b.at(i, j)] * w[b.at(i, j)];
    }
  }
  add_up(product, pw);
}

// u += alpha p, r -= alpha w and the square of r.
__global__ void advance(Block b, double *u, double *r, const double *p, const double *w, double alpha,
                        double *rr) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  double square = 0;
  if (k < b.nx * b.ny) {
    int at = b.at(k % b.nx, k / b.nx);
    u[at] += alpha * p[at];
    r[at] -= alpha * w[at];
    square = r[at] * r[at];
  }
  add_up(square, rr);
}

// p = r + beta p
__global__ void new_direction(Block b, double *p, const double *r, double beta) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= b.nx * b.ny) return;
  int at = b.at(k % b.nx, k / b.nx);
  p[at] = r[at] + beta * p[at];
}

// Where the cells of a side are: own ones, or those of the neighbour.
__device__ int side(const Block &b, int which, int k, bool own) {
  int out = own ? 0 : 1;
  switch (which) {
    case 0: return b.at(-out, k);
    case 1: return b.at(b.nx - 1 + out, k);
    case 2: return b.at(k, -out);
    default: return b.at(k, b.ny - 1 + out);
  }
}

// Copies the four sides of p to the buffers that are sent; a block of threads for each.
__global__ void pack(Block b, double *buffers, const double *p, int longest) {
  int length = blockIdx.x < 2 ? b.ny : b.nx;
  for (int k = threadIdx.x; k < length; k += blockDim.x) {
    buffers[blockIdx.x * longest + k] = p[side(b, blockIdx.x, k, true)];
  }
}

__global__ void unpack(Block b, double *p, const double *buffers, int longest) {
  int length = blockIdx.x < 2 ? b.ny : b.nx;
  for (int k = threadIdx.x; k < length; k += blockDim.x) {
    p[side(b, blockIdx.x, k, false)] = buffers[blockIdx.x * longest + k];
  }
}

// The solver of one rank.
class Solver {
 public:
  Solver(Block block, const int (&neighbours)[4]) : b(block), longest(std::max(b.nx, b.ny)) {
    std::copy(neighbours, neighbours + 4, peers);
    for (double **field : {&u, &r, &p, &w}) {
      CUDA(cudaMalloc(field, b.cells() * sizeof(double)));
      CUDA(cudaMemset(*field, 0, b.cells() * sizeof(double)));
    }
    for (double **buffer : {&outgoing, &incoming}) {
      CUDA(cudaMalloc(buffer, 4 * longest * sizeof(double)));
      CUDA(cudaMemset(*buffer, 0, 4 * longest * sizeof(double)));
    }
    CUDA(cudaMalloc(&sum, sizeof *sum));
    CUDA(cudaMallocHost(&host_sum, sizeof *host_sum));
    CUDA(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&halo, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&direction, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    std::fill(sends, sends + 4, MPI_REQUEST_NULL);
    CUDA(cudaDeviceSynchronize());
  }

  ~Solver() {
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    CUDA(cudaDeviceSynchronize());
    for (double *memory : {u, r, p, w, outgoing, incoming, sum}) CUDA(cudaFree(memory));
    CUDA(cudaFreeHost(host_sum));
    CUDA(cudaEventDestroy(direction));
    CUDA(cudaEventDestroy(arrived));
    CUDA(cudaStreamDestroy(compute));
    CUDA(cudaStreamDestroy(halo));
  }

  Solver(const Solver &) = delete;

  // Steps until the square of the residual is small; gives their number.
  int solve(double tolerance, int most) {
    start<<<blocks(), THREADS, 0, compute>>>(b, u, r, p);
    clear();
    product();
    clear();
    first_direction<<<blocks(), THREADS, 0, compute>>>(b, r, p, w, sum);
    double rr = over_ranks(), begin = rr;
    int steps = 0;
    while (steps < most && rr > tolerance * tolerance * begin) {
      clear();
      product();
      double alpha = rr / over_ranks();
      clear();
      advance<<<blocks(), THREADS, 0, compute>>>(b, u, r, p, w, alpha, sum);
      double former = rr;
      rr = over_ranks();
      new_direction<<<blocks(), THREADS, 0, compute>>>(b, p, r, rr / former);
      steps++;
    }
    return steps;
  }

  // u on the host.
  std::vector<double> result() {
    std::vector<double> cells(b.cells());
    CUDA(cudaStreamSynchronize(compute));
    CUDA(cudaMemcpy(cells.data(), u, b.cells() * sizeof(double), cudaMemcpyDeviceToHost));
    return cells;
  }

 private:
  unsigned blocks() const { return (b.nx * b.ny + THREADS - 1) / THREADS; }

  void clear() { CUDA(cudaMemsetAsync(sum, 0, sizeof *sum, compute)); }

  // w = A p and p·w, the interior while the sides are under way.
  void product() {
    MPI_Request receives[4];
    CUDA(cudaEventRecord(direction, compute));
    if (BREAK != 1) CUDA(cudaStreamWaitEvent(halo, direction, 0));
    if (BREAK != 2) MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    pack<<<4, THREADS, 0, halo>>>(b, outgoing, p, longest);
    if (BREAK == 2) MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
    multiply<<<blocks(), THREADS, 0, compute>>>(b, w, p, true, sum);
    if (BREAK != 3) CUDA(cudaStreamSynchronize(halo));
    for (int which = 0; which < 4; which++) {
      int count = which < 2 ? b.ny : b.nx;
      MPI_Irecv(incoming + which * longest, count, MPI_DOUBLE, peers[which], which ^ 1, MPI_COMM_WORLD,
                &receives[which]);
    }
    for (int which = 0; which < 4; which++) {
      int count = which < 2 ? b.ny : b.nx;
      MPI_Isend(outgoing + which * longest, count, MPI_DOUBLE, peers[which], which, MPI_COMM_WORLD,
                &sends[which]);
    }
    if (BREAK != 4) MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
    unpack<<<4, THREADS, 0, halo>>>(b, p, incoming, longest);
    if (BREAK == 4) MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
    CUDA(cudaEventRecord(arrived, halo));
    if (BREAK != 5) CUDA(cudaStreamWaitEvent(compute, arrived, 0));
    multiply<<<blocks(), THREADS, 0, compute>>>(b, w, p, false, sum);
    CUDA(cudaGetLastError());
  }

  // The sum of all ranks' sums.
  double over_ranks() {
    double total;
    CUDA(cudaMemcpyAsync(host_sum, sum, sizeof *sum, cudaMemcpyDeviceToHost, compute));
    if (BREAK != 6) CUDA(cudaStreamSynchronize(compute));
    MPI_Allreduce(host_sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
  }

  Block b;
  int peers[4];
  int longest;
  double *u, *r, *p, *w;
  double *outgoing, *incoming;  // one side after the other
  double *sum, *host_sum;
  cudaStream_t compute, halo;
  cudaEvent_t direction, arrived;
  MPI_Request sends[4];
};

// The same on the host, for the whole grid.
static std::vector<double> reference(int all_x, int all_y, double tolerance, int most) {
  Block b = {all_x, all_y, 0, 0, all_x, all_y};
  std::vector<double> u(b.cells()), r(b.cells()), p(b.cells()), w(b.cells());
  auto each = [&](auto &&body) {
    double sum = 0;
    for (int j = 0; j < b.ny; j++) {
      for (int i = 0; i < b.nx; i++) sum += body(i, j, b.at(i, j));
    }
    return sum;
  };
  each([&](int i, int j, int at) { return u[at] = initial(i, j); });
  double rr = each([&](int i, int j, int at) {
    p[at] = r[at] = u[at] - apply(b, u.data(), i, j);
    return r[at] * r[at];
  });
  double begin = rr;
  for (int step = 0; step < most && rr > tolerance * tolerance * begin; step++) {
    double pw = each([&](int i, int j, int at) {
      w[at] = apply(b, p.data(), i, j);
      return p[at] * w[at];
    });
    double alpha = rr / pw, former = rr;
    rr = each([&](int, int, int at) {
      u[at] += alpha * p[at];
      r[at] -= alpha * w[at];
      return r[at] * r[at];
    });
    each([&](int, int, int at) { return p[at] = r[at] + rr / former * p[at]; });
  }
  return u;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, devices;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int all_x = argc > 1 ? atoi(argv[1]) : 24, all_y = argc > 2 ? atoi(argv[2]) : 20;
  int most = argc > 3 ? atoi(argv[3]) : 12;
  CUDA(cudaGetDeviceCount(&devices));
  CUDA(cudaSetDevice(rank % devices));

  int counts[2] = {0, 0}, periods[2] = {0, 0}, mine[2], peers[4];
  MPI_Comm grid;
  MPI_Dims_create(size, 2, counts);
  MPI_Cart_create(MPI_COMM_WORLD, 2, counts, periods, 0, &grid);
  MPI_Cart_coords(grid, rank, 2, mine);
  MPI_Cart_shift(grid, 0, 1, &peers[0], &peers[1]);
  MPI_Cart_shift(grid, 1, 1, &peers[2], &peers[3]);
  MPI_Comm_free(&grid);
  if (all_x < 2 * counts[0] || all_y < 2 * counts[1] || most < 1) {
    if (rank == 0) fprintf(stderr, "usage: cg [NX [NY [STEPS]]], 2 x 2 cells or more for each rank\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  auto begin = [](int index, int count, int all) { return index * all / count; };
  Block b;
  b.x = begin(mine[0], counts[0], all_x);
  b.y = begin(mine[1], counts[1], all_y);
  b.nx = begin(mine[0] + 1, counts[0], all_x) - b.x;
  b.ny = begin(mine[1] + 1, counts[1], all_y) - b.y;
  b.all_x = all_x;
  b.all_y = all_y;

  constexpr double TOLERANCE = 1e-10;
  bool right;
  {
    Solver solver(b, peers);
    int steps = solver.solve(TOLERANCE, most);
    std::vector<double> u = solver.result(), expected = reference(all_x, all_y, TOLERANCE, most);
    Block whole = {all_x, all_y, 0, 0, all_x, all_y};
    double error = 0, worst;
    for (int j = 0; j < b.ny; j++) {
      for (int i = 0; i < b.nx; i++) {
        double difference = fabs(u[b.at(i, j)] - expected[whole.at(b.x + i, b.y + j)]);
        error = difference > error || std::isnan(difference) ? difference : error;
      }
    }
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    right = worst < 1e-8;
    if (rank == 0) printf("%d steps, error %.1e: %s\n", steps, worst, right ? "right" : "WRONG");
  }
  MPI_Finalize();
  return !right;
}
