// Breadth-first search on several devices that pass what they find around a ring: each reads its
// left neighbour's buffer. With MISPLACED, the array of pointers to the buffers lies on the last
// device alone, so that all others fetch pointers from there: right results, and traffic where none
// should be.
#include <cstdio>
#include <cuda_runtime.h>
#include <mpi.h>
#include <queue>
#include <vector>

#ifndef MISPLACED
#define MISPLACED 0
#endif

enum { MOST_DEVICES = 8, VERTICES = 240, DEGREE = 3, THREADS = 64 };

struct Buffer {
	int count;
	int items[VERTICES];
};

// The neighbours of a vertex: a fixed random graph.
__host__ __device__ int neighbour(int vertex, int edge)
{
	unsigned x = unsigned(vertex) * 2654435761u + unsigned(edge) * 40503u + 12345u;
	x ^= x >> 13;
	x *= 2246822519u;
	x ^= x >> 16;
	return int(x % VERTICES);
}

__device__ void add(Buffer *buffer, int item)
{
	buffer->items[atomicAdd(&buffer->count, 1)] = item;
}

// What lies beyond the device's frontier is put into its buffer.
__global__ void expand(const Buffer *frontier, Buffer *out, int *offered)
{
	for (int i = threadIdx.x; i < frontier->count * DEGREE; i += blockDim.x) {
		int found = neighbour(frontier->items[i / DEGREE], i % DEGREE);
		if (atomicExch(&offered[found], 1) == 0)
			add(out, found);
	}
}

// Takes from the left neighbour's buffer what is this device's own, and hands the rest on.
__global__ void step(Buffer *const *pointers, int left, int device, int devices, int level, Buffer *next,
		     Buffer *frontier, int *depth, int last)
{
	const Buffer *theirs = pointers[left]; // fetches the pointer
	for (int i = threadIdx.x; i < theirs->count; i += blockDim.x) {
		int item = theirs->items[i]; // reads the neighbour
		if (item % devices != device) {
			if (!last)
				add(next, item);
		} else if (atomicCAS(&depth[item], -1, level) == -1) {
			add(frontier, item);
		}
	}
}

static void check(cudaError_t error)
{
	if (error != cudaSuccess) {
		fprintf(stderr, "%s\n", cudaGetErrorString(error));
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

// The same on the host.
static std::vector<int> reference()
{
	std::vector<int> depth(VERTICES, -1);
	std::queue<int> queue;
	depth[0] = 0;
	for (queue.push(0); !queue.empty(); queue.pop())
		for (int edge = 0; edge < DEGREE; edge++) {
			int found = neighbour(queue.front(), edge);
			if (depth[found] < 0) {
				depth[found] = depth[queue.front()] + 1;
				queue.push(found);
			}
		}
	return depth;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int devices;
	check(cudaGetDeviceCount(&devices));
	devices = devices < MOST_DEVICES ? devices : MOST_DEVICES;
	Buffer *buffers[MOST_DEVICES], *nexts[MOST_DEVICES], *frontiers[MOST_DEVICES], **pointers[MOST_DEVICES];
	int *depths[MOST_DEVICES], *offered[MOST_DEVICES];
	for (int d = 0; d < devices; d++) {
		check(cudaSetDevice(d));
		for (int peer = 0; peer < devices; peer++)
			if (peer != d)
				check(cudaDeviceEnablePeerAccess(peer, 0));
		check(cudaMalloc(&buffers[d], sizeof(Buffer)));
		check(cudaMalloc(&nexts[d], sizeof(Buffer)));
		check(cudaMalloc(&frontiers[d], sizeof(Buffer)));
		check(cudaMalloc(&depths[d], VERTICES * sizeof(int)));
		check(cudaMalloc(&offered[d], VERTICES * sizeof(int)));
		check(cudaMemset(frontiers[d], 0, sizeof(Buffer)));
		check(cudaMemset(depths[d], -1, VERTICES * sizeof(int)));
		check(cudaMemset(offered[d], 0, VERTICES * sizeof(int)));
	}
	for (int d = 0; d < devices; d++) {
		check(cudaSetDevice(MISPLACED ? devices - 1 : d));
		check(cudaMalloc(&pointers[d], sizeof buffers));
	}
	auto wait = [&] {
		for (int d = 0; d < devices; d++) {
			check(cudaSetDevice(d));
			check(cudaDeviceSynchronize());
		}
	};
	Buffer start = { 1, { 0 } };
	int zero = 0, steps = 0;
	wait();
	check(cudaMemcpy(frontiers[0], &start, sizeof start, cudaMemcpyHostToDevice));
	check(cudaMemcpy(depths[0], &zero, sizeof zero, cudaMemcpyHostToDevice));
	for (int level = 1, found = 1; found > 0; level++) {
		for (int d = 0; d < devices; d++) {
			check(cudaSetDevice(d));
			check(cudaMemset(buffers[d], 0, sizeof(Buffer)));
			expand<<<1, THREADS>>>(frontiers[d], buffers[d], offered[d]);
			check(cudaMemset(frontiers[d], 0, sizeof(int)));
		}
		// After as many steps as there are devices, each has seen what all have found.
		for (int k = 0; k < devices; k++, steps++) {
			wait();
			for (int d = 0; d < devices; d++) {
				check(cudaMemcpy(pointers[d], buffers, sizeof buffers, cudaMemcpyHostToDevice));
				check(cudaMemset(nexts[d], 0, sizeof(Buffer)));
			}
			wait();
			for (int d = 0; d < devices; d++) {
				check(cudaSetDevice(d));
				step<<<1, THREADS>>>(pointers[d], (d + devices - 1) % devices, d, devices, level,
						     nexts[d], frontiers[d], depths[d], k == devices - 1);
			}
			wait();
			for (int d = 0; d < devices; d++) {
				Buffer *used = buffers[d];
				buffers[d] = nexts[d];
				nexts[d] = used;
			}
		}
		found = 0;
		for (int d = 0; d < devices; d++) {
			int count;
			check(cudaMemcpy(&count, frontiers[d], sizeof count, cudaMemcpyDeviceToHost));
			found += count;
		}
	}
	std::vector<int> depth(VERTICES), theirs(VERTICES);
	for (int d = 0; d < devices; d++) {
		check(cudaMemcpy(theirs.data(), depths[d], VERTICES * sizeof(int), cudaMemcpyDeviceToHost));
		for (int v = d; v < VERTICES; v += devices)
			depth[v] = theirs[v];
	}
	bool right = depth == reference();
	printf("%s, %d steps\n", right ? "right" : "wrong", steps);
	MPI_Finalize();
	return !right;
}
