// Copies, and kernels that reach into another device's memory: what moves where is known in
// advance.
#include <cuda_runtime.h>
#include <mpi.h>

__global__ void pull(double *own, const double *theirs, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		own[i] += theirs[i]; // pulls
}

__global__ void push(const double *own, double *theirs, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		theirs[i] = own[i]; // pushes
}

int main(int argc, char **argv)
{
	enum { CELLS = 1000 };
	MPI_Init(&argc, &argv);
	double *first, *second;
	double *host = new double[CELLS]();
	cudaSetDevice(0);
	cudaMalloc(&first, CELLS * sizeof(double));
	cudaDeviceEnablePeerAccess(1, 0);
	cudaSetDevice(1);
	cudaMalloc(&second, CELLS * sizeof(double));
	cudaDeviceEnablePeerAccess(0, 0);
	cudaMemcpy(second, host, CELLS * sizeof(double), cudaMemcpyHostToDevice);
	cudaMemcpyPeer(first, 0, second, 1, 100 * sizeof(double));
	cudaDeviceSynchronize();
	pull<<<4, 128>>>(second, first, 500); // launch
	cudaDeviceSynchronize();
	cudaSetDevice(0);
	for (int round = 0; round < 3; round++)
		push<<<1, 64>>>(first, second + 200, 64);
	cudaDeviceSynchronize();
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaStreamCreate(&stream);
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	cudaMemcpyAsync(host, first, 80, cudaMemcpyDeviceToHost, stream);
	cudaStreamEndCapture(stream, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	for (int round = 0; round < 5; round++)
		cudaGraphLaunch(exec, stream);
	cudaStreamSynchronize(stream);
	MPI_Finalize();
	return 0;
}
