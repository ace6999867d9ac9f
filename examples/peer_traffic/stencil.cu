// A 2-D stencil whose rows are dealt to devices; each reads the rows next to its own from its
// neighbours' memory. With WRONG_HALO it reads the row before the last one from above: the object
// view shows which rows of `grid` are read from afar.
#include <cstdio>
#include <cuda_runtime.h>
#include <mpi.h>
#include <utility>
#include <vector>

#ifndef WRONG_HALO
#define WRONG_HALO 0
#endif

enum { MOST_DEVICES = 8, WIDTH = 64, ROWS = 16, STEPS = 4 };

// `above` and `below` are the neighbours' parts, null at the edges.
__global__ void relax(const double *grid, double *next, const double *above, const double *below)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x < 1 || x >= WIDTH - 1)
		return;
	double up = y > 0 ? grid[(y - 1) * WIDTH + x]
		  : above ? above[(ROWS - 1 - WRONG_HALO) * WIDTH + x] // reads from above
			  : 0;
	double down = y < ROWS - 1 ? grid[(y + 1) * WIDTH + x]
		    : below	   ? below[x] // reads from below
				   : 0;
	next[y * WIDTH + x] = 0.25 * (up + down + grid[y * WIDTH + x - 1] + grid[y * WIDTH + x + 1]);
}

static void check(cudaError_t error)
{
	if (error != cudaSuccess) {
		fprintf(stderr, "%s\n", cudaGetErrorString(error));
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static std::vector<double> reference(std::vector<double> grid, int rows)
{
	std::vector<double> next(grid);
	for (int step = 0; step < STEPS; step++) {
		for (int y = 0; y < rows; y++)
			for (int x = 1; x < WIDTH - 1; x++) {
				double up = y > 0 ? grid[(y - 1) * WIDTH + x] : 0;
				double down = y < rows - 1 ? grid[(y + 1) * WIDTH + x] : 0;
				next[y * WIDTH + x] =
					0.25 * (up + down + grid[y * WIDTH + x - 1] + grid[y * WIDTH + x + 1]);
			}
		std::swap(grid, next);
	}
	return grid;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int devices;
	check(cudaGetDeviceCount(&devices));
	devices = devices < MOST_DEVICES ? devices : MOST_DEVICES;
	std::vector<double> start(devices * ROWS * WIDTH);
	for (size_t i = 0; i < start.size(); i++)
		start[i] = double(i * 7919 % 101);
	const size_t bytes = ROWS * WIDTH * sizeof(double);
	double *grid[MOST_DEVICES], *next[MOST_DEVICES];
	for (int d = 0; d < devices; d++) {
		check(cudaSetDevice(d));
		for (int peer = 0; peer < devices; peer++)
			if (peer != d)
				check(cudaDeviceEnablePeerAccess(peer, 0));
		check(cudaMalloc(&grid[d], bytes));
		check(cudaMalloc(&next[d], bytes));
		check(cudaMemcpy(grid[d], &start[d * ROWS * WIDTH], bytes, cudaMemcpyHostToDevice));
		check(cudaMemcpy(next[d], &start[d * ROWS * WIDTH], bytes, cudaMemcpyHostToDevice));
	}
	for (int step = 0; step < STEPS; step++) {
		for (int d = 0; d < devices; d++) {
			check(cudaSetDevice(d));
			relax<<<dim3(1, ROWS), WIDTH>>>(grid[d], next[d], d > 0 ? grid[d - 1] : nullptr,
							d < devices - 1 ? grid[d + 1] : nullptr);
		}
		for (int d = 0; d < devices; d++) {
			check(cudaSetDevice(d));
			check(cudaDeviceSynchronize());
			std::swap(grid[d], next[d]);
		}
	}
	std::vector<double> found(start.size());
	for (int d = 0; d < devices; d++)
		check(cudaMemcpy(&found[d * ROWS * WIDTH], grid[d], bytes, cudaMemcpyDeviceToHost));
	printf("%s\n", found == reference(start, devices * ROWS) ? "right" : "wrong");
	MPI_Finalize();
	return 0;
}
