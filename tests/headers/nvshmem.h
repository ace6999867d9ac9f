/* The declarations of NVSHMEM's host library that the test programs use, as NVSHMEM 3 has them. Its
 * own headers need not be installed. Programs that define NVSHMEM_IN_KERNELS also get functions for
 * kernels, written anew: they take what they need from the variable that NVSHMEM's own take it
 * from. */
#ifndef NVSHMEM_H
#define NVSHMEM_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

/* What kernels may call, too. */
#ifdef NVSHMEM_IN_KERNELS
#define NVSHMEM_BOTH __host__ __device__
#else
#define NVSHMEM_BOTH
#endif

extern "C" {
typedef int32_t nvshmem_team_t;
enum { NVSHMEM_TEAM_INVALID = -1, NVSHMEM_TEAM_WORLD = 0 };
enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_SIGNAL_ADD = 10 };
enum { NVSHMEM_CMP_EQ = 0, NVSHMEM_CMP_GE = 5 };

enum { NVSHMEMX_INIT_WITH_UNIQUEID = 1 << 3 };

typedef struct {
	int version;
	char internal[124];
} nvshmemx_uniqueid_t;

typedef struct {
	int version;
	nvshmemx_uniqueid_t *id;
	int myrank;
	int nranks;
} nvshmemx_uniqueid_args_t;

typedef struct {
	int version;
	nvshmemx_uniqueid_args_t uid_args;
	char content[96];
} nvshmemx_init_args_t;

typedef struct {
	int version;
	void *mpi_comm;
	nvshmemx_init_args_t args;
} nvshmemx_init_attr_t;

int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t *id);
int nvshmemx_set_attr_uniqueid_args(int myrank, int nranks, const nvshmemx_uniqueid_t *id,
				    nvshmemx_init_attr_t *attr);
int nvshmemx_hostlib_init_attr(unsigned flags, nvshmemx_init_attr_t *attributes);
void nvshmemx_hostlib_finalize(void);
NVSHMEM_BOTH int nvshmem_my_pe(void);
NVSHMEM_BOTH int nvshmem_n_pes(void);

void *nvshmem_malloc(size_t size);
void *nvshmem_calloc(size_t count, size_t size);
void nvshmem_free(void *ptr);
NVSHMEM_BOTH void *nvshmem_ptr(const void *dest, int pe);

void nvshmem_putmem(void *dest, const void *source, size_t bytes, int pe);
void nvshmem_getmem(void *dest, const void *source, size_t bytes, int pe);
void nvshmem_putmem_nbi(void *dest, const void *source, size_t bytes, int pe);
NVSHMEM_BOTH void nvshmem_float_put(float *dest, const float *source, size_t nelems, int pe);
NVSHMEM_BOTH void nvshmem_float_get(float *dest, const float *source, size_t nelems, int pe);
void nvshmem_float_put_nbi(float *dest, const float *source, size_t nelems, int pe);
NVSHMEM_BOTH void nvshmem_int_p(int *dest, int value, int pe);
NVSHMEM_BOTH int nvshmem_int_g(const int *source, int pe);
NVSHMEM_BOTH void nvshmem_uint64_atomic_inc(uint64_t *dest, int pe);
void nvshmemx_float_put_on_stream(float *dest, const float *source, size_t nelems, int pe,
				  cudaStream_t stream);
void nvshmemx_float_get_on_stream(float *dest, const float *source, size_t nelems, int pe,
				  cudaStream_t stream);
void nvshmemx_float_put_nbi_on_stream(float *dest, const float *source, size_t nelems, int pe,
				      cudaStream_t stream);
void nvshmemx_putmem_signal_on_stream(void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
				      uint64_t signal, int sig_op, int pe, cudaStream_t stream);
void nvshmemx_putmem_signal_nbi_on_stream(void *dest, const void *source, size_t bytes, uint64_t *sig_addr,
					  uint64_t signal, int sig_op, int pe, cudaStream_t stream);
void nvshmemx_signal_op_on_stream(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
				  cudaStream_t stream);
void nvshmemx_signal_wait_until_on_stream(uint64_t *sig_addr, int cmp, uint64_t value, cudaStream_t stream);
NVSHMEM_BOTH void nvshmem_quiet(void);
NVSHMEM_BOTH void nvshmem_fence(void);
void nvshmemx_quiet_on_stream(cudaStream_t stream);

NVSHMEM_BOTH void nvshmem_barrier_all(void);
NVSHMEM_BOTH void nvshmem_sync_all(void);
int nvshmem_barrier(nvshmem_team_t team);
int nvshmem_team_sync(nvshmem_team_t team);
void nvshmemx_barrier_all_on_stream(cudaStream_t stream);
int nvshmemx_barrier_on_stream(nvshmem_team_t team, cudaStream_t stream);
int nvshmem_float_sum_reduce(nvshmem_team_t team, float *dest, const float *source, size_t nreduce);
int nvshmem_int_broadcast(nvshmem_team_t team, int *dest, const int *source, size_t nelems, int PE_root);
int nvshmem_int_fcollect(nvshmem_team_t team, int *dest, const int *source, size_t nelems);
int nvshmemx_float_sum_reduce_on_stream(nvshmem_team_t team, float *dest, const float *source,
					size_t nreduce, cudaStream_t stream);
int nvshmemx_float_max_reduce_on_stream(nvshmem_team_t team, float *dest, const float *source,
					size_t nreduce, cudaStream_t stream);
int nvshmemx_int_sum_reduce_on_stream(nvshmem_team_t team, int *dest, const int *source, size_t nreduce,
				      cudaStream_t stream);
int nvshmemx_float_fcollect_on_stream(nvshmem_team_t team, float *dest, const float *source, size_t nelems,
				      cudaStream_t stream);
int nvshmemx_float_broadcast_on_stream(nvshmem_team_t team, float *dest, const float *source,
				       size_t nelems, int PE_root, cudaStream_t stream);

int nvshmem_team_split_strided(nvshmem_team_t parent, int start, int stride, int size, const void *config,
			       long mask, nvshmem_team_t *made);
int nvshmem_team_split_2d(nvshmem_team_t parent, int xrange, const void *xconfig, long xmask,
			  nvshmem_team_t *x, const void *yconfig, long ymask, nvshmem_team_t *y);
int nvshmem_team_my_pe(nvshmem_team_t team);
int nvshmem_team_n_pes(nvshmem_team_t team);
void nvshmem_team_destroy(nvshmem_team_t team);
}

/* What nvshmem_init and nvshmem_finalize do in programs without NVSHMEM's library for kernels. */
#define nvshmem_init() nvshmemx_hostlib_init_attr(0, nullptr)
#define nvshmemx_init_attr(flags, attributes) nvshmemx_hostlib_init_attr(flags, attributes)
#define nvshmem_finalize() nvshmemx_hostlib_finalize()

#ifdef NVSHMEM_IN_KERNELS

/* The beginning of nvshmemi_device_host_state_t, with the size that it has in NVSHMEM 3.4. */
struct nvshmemi_state {
	int version, mype, npes, node_mype, node_npes, pe_dist, proxy, atomics_sync, job_connectivity;
	bool proxy_ops_are_ordered, atomics_complete_on_quiet;
	char *heap_base;
	size_t heap_size;
	char **peer_heap_base_p2p, **peer_heap_base_remote;
	bool symmetric_heap_kind, enable_rail_opt;
	uint32_t atomics_le_min_size;
	void *timeout;
	unsigned long long *test_wait_any_start_idx_ptr;
	void **team_pool;
	long *psync_pool, *sync_counter;
	char others[656];
};
static_assert(sizeof(nvshmemi_state) == 776, "as in NVSHMEM 3.4");

__constant__ nvshmemi_state nvshmemi_device_state_d;

/* Where an object of another PE is. */
template <typename T> __device__ inline T *nvshmemi_at(T *object, int pe)
{
	const nvshmemi_state &state = nvshmemi_device_state_d;
	return (T *)(state.peer_heap_base_p2p[pe] + ((char *)object - state.heap_base));
}

/* Copies by the threads of a block, which do so together. */
template <typename T> __device__ inline void nvshmemi_copy_block(T *to, const T *from, size_t count)
{
	__syncthreads();
	for (size_t at = threadIdx.x; at < count; at += blockDim.x)
		to[at] = from[at];
	__syncthreads();
}

template <typename T> __device__ inline void nvshmemi_wait(volatile T *at, int compare, T value)
{
	while (compare == NVSHMEM_CMP_GE ? *at < value : *at != value) {
	}
}

/* All PEs wait for each other, by one thread of each. */
__device__ inline void nvshmemi_sync_all()
{
	const nvshmemi_state &state = nvshmemi_device_state_d;
	volatile long *counter = state.sync_counter;
	long round = *counter;
	volatile long *words = state.psync_pool + 2 * 27648 * (round % 2);
	for (int pe = 0; pe < state.npes; pe++)
		*nvshmemi_at(words + state.mype, pe) = round;
	for (int pe = 0; pe < state.npes; pe++)
		nvshmemi_wait(words + pe, NVSHMEM_CMP_GE, round);
	*counter = round + 1;
}

extern "C" {

/* Functions that the host has, too: those are the library's. */
#ifdef __CUDA_ARCH__
NVSHMEM_BOTH inline int nvshmem_my_pe(void)
{
	return nvshmemi_device_state_d.mype;
}

NVSHMEM_BOTH inline int nvshmem_n_pes(void)
{
	return nvshmemi_device_state_d.npes;
}

NVSHMEM_BOTH inline void *nvshmem_ptr(const void *dest, int pe)
{
	return pe >= 0 && pe < nvshmem_n_pes() ? nvshmemi_at((char *)dest, pe) : nullptr;
}

NVSHMEM_BOTH inline void nvshmem_int_p(int *dest, int value, int pe)
{
	*nvshmemi_at(dest, pe) = value;
}

NVSHMEM_BOTH inline int nvshmem_int_g(const int *source, int pe)
{
	return *nvshmemi_at((int *)source, pe);
}

NVSHMEM_BOTH inline void nvshmem_float_put(float *dest, const float *source, size_t nelems, int pe)
{
	for (size_t at = 0; at < nelems; at++)
		nvshmemi_at(dest, pe)[at] = source[at];
}

NVSHMEM_BOTH inline void nvshmem_float_get(float *dest, const float *source, size_t nelems, int pe)
{
	for (size_t at = 0; at < nelems; at++)
		dest[at] = nvshmemi_at((float *)source, pe)[at];
}

NVSHMEM_BOTH inline void nvshmem_uint64_atomic_inc(uint64_t *dest, int pe)
{
	atomicAdd_system((unsigned long long *)nvshmemi_at(dest, pe), 1ULL);
}

NVSHMEM_BOTH inline void nvshmem_fence(void)
{
	__threadfence_system();
}

NVSHMEM_BOTH inline void nvshmem_quiet(void)
{
	__threadfence_system();
}

NVSHMEM_BOTH inline void nvshmem_sync_all(void)
{
	nvshmemi_sync_all();
}

NVSHMEM_BOTH inline void nvshmem_barrier_all(void)
{
	__threadfence_system();
	nvshmemi_sync_all();
}
#endif

/* Functions for kernels alone. */
__device__ inline void nvshmem_float_p(float *dest, float value, int pe)
{
	*nvshmemi_at(dest, pe) = value;
}

__device__ inline void nvshmemx_signal_op(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
	unsigned long long *at = (unsigned long long *)nvshmemi_at(sig_addr, pe);
	if (sig_op == NVSHMEM_SIGNAL_ADD)
		atomicAdd_system(at, signal);
	else
		*(volatile unsigned long long *)at = signal;
}

__device__ inline void nvshmemx_float_put_nbi_block(float *dest, const float *source, size_t nelems, int pe)
{
	nvshmemi_copy_block(nvshmemi_at(dest, pe), source, nelems);
}

__device__ inline void nvshmemx_float_get_block(float *dest, const float *source, size_t nelems, int pe)
{
	nvshmemi_copy_block(dest, (const float *)nvshmemi_at((float *)source, pe), nelems);
}

__device__ inline void nvshmemx_float_put_signal_nbi_block(float *dest, const float *source, size_t nelems,
							   uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
	nvshmemi_copy_block(nvshmemi_at(dest, pe), source, nelems);
	if (threadIdx.x == 0) {
		__threadfence_system();
		nvshmemx_signal_op(sig_addr, signal, sig_op, pe);
	}
	__syncthreads();
}

__device__ inline void nvshmem_int_wait_until(int *ivar, int cmp, int value)
{
	nvshmemi_wait(ivar, cmp, value);
}

__device__ inline void nvshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t value)
{
	nvshmemi_wait(sig_addr, cmp, value);
}

__device__ inline void nvshmemx_barrier_all_block(void)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence_system();
		nvshmemi_sync_all();
	}
	__syncthreads();
}
}

#endif

#endif
