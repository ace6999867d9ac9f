/* What LLVM and libstdc++, as the distribution has compiled them, ask of a newer glibc than 2.28
 * (`make dist`). They find it here, at link time. */
#include <malloc.h>

/* glibc 2.32. False is always safe: reference counts are then atomic. */
char __libc_single_threaded;

/* glibc 2.33. LLVM asks for it in statistics that commsan never prints. */
struct mallinfo2 mallinfo2(void) {
  struct mallinfo2 none = {0};
  return none;
}
