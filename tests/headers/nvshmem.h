/* The declarations of NVSHMEM's host library that the test programs use, as NVSHMEM 3 has them. Its
 * own headers need not be installed. */
#ifndef NVSHMEM_H
#define NVSHMEM_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

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
int nvshmem_my_pe(void);
int nvshmem_n_pes(void);

void *nvshmem_malloc(size_t size);
void *nvshmem_calloc(size_t count, size_t size);
void nvshmem_free(void *ptr);
void *nvshmem_ptr(const void *dest, int pe);

void nvshmem_putmem(void *dest, const void *source, size_t bytes, int pe);
void nvshmem_getmem(void *dest, const void *source, size_t bytes, int pe);
void nvshmem_putmem_nbi(void *dest, const void *source, size_t bytes, int pe);
void nvshmem_float_put(float *dest, const float *source, size_t nelems, int pe);
void nvshmem_float_get(float *dest, const float *source, size_t nelems, int pe);
void nvshmem_float_put_nbi(float *dest, const float *source, size_t nelems, int pe);
void nvshmem_int_p(int *dest, int value, int pe);
int nvshmem_int_g(const int *source, int pe);
void nvshmem_uint64_atomic_inc(uint64_t *dest, int pe);
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
void nvshmem_quiet(void);
void nvshmem_fence(void);
void nvshmemx_quiet_on_stream(cudaStream_t stream);

void nvshmem_barrier_all(void);
void nvshmem_sync_all(void);
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

#endif
