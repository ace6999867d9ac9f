// What kernels put to other PEs of NVSHMEM, and get from them.
#define NVSHMEM_IN_KERNELS
#include "../headers/nvshmem.h"
#include <cstdio>
#include <mpi.h>

struct Symmetric {
	float row[64], edge[16];
	uint64_t count;
};

__global__ void exchange(Symmetric *field, float *own)
{
	int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
	int right = (me + 1) % pes, left = (me + pes - 1) % pes;
	nvshmem_float_p(&field->edge[threadIdx.x], (float)me, right); // values
	nvshmemx_float_put_nbi_block(field->row, own, 64, right); // row
	nvshmemx_barrier_all_block(); // meets
	nvshmemx_float_get_block(own, field->row, 32, left); // back
	if (threadIdx.x < 3)
		nvshmem_uint64_atomic_inc(&field->count, right); // counts
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	cudaSetDevice(rank);
	nvshmem_init();
	Symmetric *field = (Symmetric *)nvshmem_calloc(1, sizeof(Symmetric));
	float *own, host[64];
	cudaMalloc(&own, sizeof host);
	for (float &value : host)
		value = (float)rank;
	cudaMemcpy(own, host, sizeof host, cudaMemcpyHostToDevice);
	nvshmem_barrier_all();
	exchange<<<1, 16>>>(field, own);
	cudaDeviceSynchronize();
	nvshmem_barrier_all();
	Symmetric now;
	cudaMemcpy(&now, field, sizeof now, cudaMemcpyDeviceToHost);
	int pes = nvshmem_n_pes(), left = (rank + pes - 1) % pes;
	if (now.row[63] == (float)left && now.edge[15] == (float)left && now.count == 3)
		printf("right\n");
	nvshmem_finalize();
	MPI_Finalize();
	return 0;
}
