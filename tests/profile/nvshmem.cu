// What NVSHMEM's host library moves between the devices of ranks, in a ring.
#include <cuda_runtime.h>
#include <mpi.h>
#include <cstdint>
#include <cstdio>

// Of NVSHMEM's headers.
extern "C" {
enum { SIGNAL_ADD = 10, CMP_GE = 5, TEAM_WORLD = 0 };
int nvshmemx_hostlib_init_attr(unsigned flags, void *attributes);
void nvshmemx_hostlib_finalize();
void *nvshmem_ptr(const void *pointer, int pe);
int nvshmem_my_pe();
int nvshmem_n_pes();
void *nvshmem_malloc(size_t size);
void *nvshmem_calloc(size_t count, size_t size);
void nvshmem_free(void *pointer);
void nvshmem_barrier_all();
void nvshmem_float_put(float *to, const float *from, size_t count, int pe);
void nvshmem_float_iput(float *to, const float *from, ptrdiff_t to_step, ptrdiff_t from_step,
			size_t count, int pe);
void nvshmem_getmem(void *to, const void *from, size_t bytes, int pe);
void nvshmem_double_p(double *to, double value, int pe);
double nvshmem_double_g(const double *from, int pe);
uint64_t nvshmem_uint64_atomic_fetch_add(uint64_t *at, uint64_t value, int pe);
void nvshmem_uint64_atomic_inc(uint64_t *at, int pe);
void nvshmemx_putmem_signal_on_stream(void *to, const void *from, size_t bytes, uint64_t *signal,
				      uint64_t value, int op, int pe, cudaStream_t stream);
void nvshmemx_signal_wait_until_on_stream(uint64_t *signal, int how, uint64_t value,
					  cudaStream_t stream);
int nvshmemx_int_broadcast_on_stream(int32_t team, int *to, const int *from, size_t count, int root,
				     cudaStream_t stream);
int nvshmem_int_fcollect(int32_t team, int *to, const int *from, size_t count);
int nvshmem_int_alltoall(int32_t team, int *to, const int *from, size_t count);
int nvshmem_int_sum_reduce(int32_t team, int *to, const int *from, size_t count);
int nvshmem_int_max_reducescatter(int32_t team, int *to, const int *from, size_t count);
int nvshmem_team_split_strided(int32_t team, int from, int step, int size, const void *config,
			       long mask, int32_t *made);
void nvshmem_team_destroy(int32_t team);
}

static bool wrong;

static void expect(bool what, int number)
{
	if (!what) {
		printf("step %d is wrong\n", number);
		wrong = true;
	}
}

// What is in device memory.
static int at(const void *from, size_t index)
{
	int value;
	cudaMemcpy(&value, (const int *)from + index, sizeof value, cudaMemcpyDeviceToHost);
	return value;
}

__global__ void reach(float *theirs)
{
	theirs[threadIdx.x] = 1;
}

static void one_sided(int me, int right, cudaStream_t stream)
{
	float values[64];
	float *field = (float *)nvshmem_malloc(256 * sizeof(float));
	double *number = (double *)nvshmem_malloc(sizeof(double));
	uint64_t *flag = (uint64_t *)nvshmem_calloc(1, sizeof(uint64_t));
	for (int i = 0; i < 64; i++)
		values[i] = (float)(100 * me + i);
	nvshmem_float_put(field, values, 64, right);
	nvshmem_barrier_all();
	nvshmem_getmem(values, field + 60, 16, right);
	expect(values[3] == (float)(100 * me + 63), 1);
	nvshmem_barrier_all();
	nvshmem_float_iput(field + 1, field, 2, 1, 16, right);
	nvshmem_double_p(number, me + 0.5, right);
	nvshmem_barrier_all();
	expect(nvshmem_double_g(number, right) == me + 0.5, 2);
	nvshmemx_putmem_signal_on_stream(field + 128, field, 512, flag, 1, SIGNAL_ADD, right, stream);
	nvshmemx_signal_wait_until_on_stream(flag, CMP_GE, 1, stream);
	cudaStreamSynchronize(stream);
	nvshmem_barrier_all();
	expect(nvshmem_uint64_atomic_fetch_add(flag, 2, right) == 1, 3);
	nvshmem_uint64_atomic_inc(flag, right);
	nvshmem_barrier_all();
	expect(at(flag, 0) == 4, 4);
	reach<<<1, 20>>>((float *)nvshmem_ptr(field + 4, right));
	cudaDeviceSynchronize();
	nvshmem_barrier_all();
	nvshmem_free(flag);
	nvshmem_free(number);
	nvshmem_free(field);
}

static void collectives(int me, int pes, cudaStream_t stream)
{
	int host[64], sum = pes * (pes - 1) / 2;
	int *operand = (int *)nvshmem_malloc(64 * sizeof(int));
	int *result = (int *)nvshmem_malloc(64 * sizeof(int));
	for (int i = 0; i < 64; i++)
		host[i] = me + i;
	cudaMemcpy(operand, host, sizeof host, cudaMemcpyHostToDevice);
	nvshmemx_int_broadcast_on_stream(TEAM_WORLD, result, operand, 32, 1, stream);
	cudaStreamSynchronize(stream);
	expect(at(result, 31) == 1 + 31, 5);
	nvshmem_int_fcollect(TEAM_WORLD, result, operand, 4);
	expect(at(result, (size_t)(4 * (pes - 1) + 3)) == pes - 1 + 3, 6);
	nvshmem_int_alltoall(TEAM_WORLD, result, operand, 2);
	expect(at(result, 3) == 1 + 2 * me + 1, 7);
	nvshmem_int_max_reducescatter(TEAM_WORLD, result, operand, 8);
	expect(at(result, 7) == pes - 1 + 8 * me + 7, 8);
	// In place.
	nvshmem_int_sum_reduce(TEAM_WORLD, operand, operand, 16);
	expect(at(operand, 15) == sum + 15 * pes, 9);
	int32_t team;
	nvshmem_team_split_strided(TEAM_WORLD, 0, 2, (pes + 1) / 2, nullptr, 0, &team);
	if (me % 2 == 0) {
		nvshmem_int_fcollect(team, result, operand, 1);
		nvshmem_team_destroy(team);
	}
	nvshmem_barrier_all();
	// What is left, the end gives back.
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	cudaStream_t stream;
	cudaSetDevice(rank);
	cudaStreamCreate(&stream);
	if (nvshmemx_hostlib_init_attr(0, nullptr))
		return 1;
	int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
	one_sided(me, (me + 1) % pes, stream);
	collectives(me, pes, stream);
	nvshmemx_hostlib_finalize();
	if (!wrong && rank == 0)
		printf("right\n");
	MPI_Finalize();
	return wrong;
}
