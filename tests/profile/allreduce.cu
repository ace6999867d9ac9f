// An all-reduce of four devices by NCCL, whose algorithm shows in what moves where: `allreduce
// FLOATS`.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

int main(int argc, char **argv)
{
	enum { DEVICES = 4 };
	MPI_Init(&argc, &argv);
	size_t count = argc > 1 ? strtoul(argv[1], nullptr, 10) : 4096;
	ncclComm_t comms[DEVICES];
	cudaStream_t streams[DEVICES];
	float *sends[DEVICES], *receives[DEVICES], *host = new float[count];
	for (size_t i = 0; i < count; i++)
		host[i] = float(i % 7);
	ncclCommInitAll(comms, DEVICES, nullptr);
	for (int device = 0; device < DEVICES; device++) {
		cudaSetDevice(device);
		cudaStreamCreate(&streams[device]);
		cudaMalloc(&sends[device], count * sizeof(float));
		cudaMalloc(&receives[device], count * sizeof(float));
		cudaMemcpyAsync(sends[device], host, count * sizeof(float), cudaMemcpyHostToDevice,
				streams[device]);
		cudaStreamSynchronize(streams[device]);
	}
	ncclGroupStart();
	for (int device = 0; device < DEVICES; device++)
		ncclAllReduce(sends[device], receives[device], count, ncclFloat, ncclSum, comms[device],
			      streams[device]);
	ncclGroupEnd(); // reduces
	bool right = true;
	for (int device = 0; device < DEVICES; device++) {
		cudaSetDevice(device);
		cudaMemcpyAsync(host, receives[device], count * sizeof(float), cudaMemcpyDeviceToHost,
				streams[device]);
		cudaStreamSynchronize(streams[device]);
		for (size_t i = 0; i < count; i++)
			right = right && host[i] == DEVICES * float(i % 7);
		ncclCommDestroy(comms[device]);
	}
	printf("%s\n", right ? "right" : "wrong");
	MPI_Finalize();
	return !right;
}
