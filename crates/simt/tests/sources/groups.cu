// Parts of blocks and warps that work together; tests/groups.rs computes their results again.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void

// The lanes with that part of the warp, by intrinsics whose masks differ from lane to lane.
K masks(const unsigned *part, unsigned *out) {
  unsigned t = threadIdx.x, mask = 0, *o = out + 9 * t;
  for (unsigned lane = 0; lane < 32; lane++) mask |= (part[lane] == part[t]) << lane;
  o[0] = __reduce_add_sync(mask, t);
  o[1] = __reduce_max_sync(mask, t);
  o[2] = __ballot_sync(mask, t & 1);
  o[3] = __any_sync(mask, t == 3);
  o[4] = __all_sync(mask, t < 16);
  o[5] = __match_any_sync(mask, t & 3);
  int all;
  o[6] = __match_all_sync(mask, t / 16, &all) + all;
  o[7] = __shfl_sync(mask, t, __ffs(mask) - 1);
  // Half of them are late.
  if (t & 1) o[8] = __reduce_or_sync(mask, 1u << t);
  else o[8] = __reduce_or_sync(mask, 1u << t);
  __syncwarp(mask);
}

// Tiles of one size: sum, largest, scan, vote, and what the first one has.
template <unsigned size> __device__ void tile(int *out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<size>(block);
  int t = threadIdx.x, v = t * 37 % 101, *o = out + 6 * t;
  for (int round = 0; round < 3; round++) {
    o[0] = cg::reduce(tile, v, cg::plus<int>());
    o[1] = cg::reduce(tile, v, cg::greater<int>());
    o[2] = cg::inclusive_scan(tile, v);
    o[3] = tile.any(v == 7) | tile.all(v > 7) << 1;
    o[4] = tile.shfl(v, 0);
    o[5] = tile.meta_group_rank() << 16 | tile.thread_rank();
    tile.sync();
  }
}
K tiles_1(int *out) { tile<1>(out); }
K tiles_2(int *out) { tile<2>(out); }
K tiles_4(int *out) { tile<4>(out); }
K tiles_8(int *out) { tile<8>(out); }
K tiles_16(int *out) { tile<16>(out); }
K tiles_32(int *out) { tile<32>(out); }
K tiles_64(int *out) { tile<64>(out); }
K tiles_128(int *out) { tile<128>(out); }
K tiles_256(int *out) { tile<256>(out); }
K tiles_512(int *out) { tile<512>(out); }

// Memory of the program's own lies beside that of the tiles.
K tiles_beside(int *out) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[64];
  int t = threadIdx.x;
  fixed[t % 64] = 0, dynamic[t] = t;
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  tile.sync();
  int sum = cg::reduce(tile, dynamic[t], cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(&fixed[tile.meta_group_rank()], sum);
  __syncthreads();
  out[t] = dynamic[t] + fixed[t / 64];
}

// Lanes by whether a number is odd, by what it is, and those that happen to be there.
K partitions(const int *in, int *out) {
  int t = threadIdx.x, v = in[t], *o = out + 4 * t;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto odd = cg::binary_partition(warp, v & 1);
  o[0] = cg::reduce(odd, v, cg::plus<int>());
  auto same = cg::labeled_partition(warp, v % 5);
  o[1] = cg::reduce(same, t, cg::less<int>());
  o[2] = cg::exclusive_scan(same, 1);
  if (v % 3) o[3] = cg::coalesced_threads().size();
  else o[3] = -(int)cg::coalesced_threads().size();
}
