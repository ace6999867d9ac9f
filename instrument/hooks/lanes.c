/* Masked and gathered vector accesses, as gcc's plugin describes them: only the bytes of active
 * lanes are accessed, anywhere in memory. */
#include "hooks.h"

/* The bytes of the last argument, lowest first; gcc-plugin/lanes.cc sets them. */
struct shape {
  uint8_t write, lanes, lane_size;
  uint8_t mask_size;  /* of each lane's mask, whose highest bit counts; 0: the mask is one of bits */
  uint8_t index_size; /* 0: lanes follow each other */
  uint8_t scale;
  uint8_t unused[2];
};

static bool is_active(const uint8_t *mask, unsigned lane, unsigned size) {
  return size ? mask[(lane + 1) * size - 1] >> 7 : mask[lane / 8] >> lane % 8 & 1;
}

static long index_of(const void *indices, unsigned lane, unsigned size) {
  return size == 4 ? ((const int32_t *)indices)[lane] : ((const int64_t *)indices)[lane];
}

HOOK void __commsan_lanes(const char *base, const void *indices, const void *mask, uint64_t packed) {
  const union {
    uint64_t packed;
    struct shape shape;
  } told = {packed};
  const struct shape s = told.shape;
  for (unsigned lane = 0; lane < s.lanes; lane++) {
    if (mask && !is_active(mask, lane, s.mask_size)) continue;
    long offset = indices ? index_of(indices, lane, s.index_size) * s.scale : lane * s.lane_size;
    const uintptr_t first = (uintptr_t)(base + offset), last = first + s.lane_size - 1;
    /* By granules: commsan_check would call the runtime for all of a page. */
    if (filter_hits(first, s.write) || filter_hits(last, s.write))
      commsan_look(first, s.lane_size, s.write, CALLER_PC, caller_frame);
  }
}
