/* Entry points of clang's -fsanitize-coverage=trace-loads,trace-stores.
 *
 * clang's thread pass omits elements of arrays and fields of structures on the stack even if their
 * address escapes: it determines whether the element's address is captured, and not the variable's.
 * Its coverage pass omits nothing, so commsan takes plain accesses from there and everything else
 * from the thread pass. The coverage pass does not report alignment.
 */
#include "hooks.h"

#define HOOKS(size)                                                                                \
  HOOK void __sanitizer_cov_load##size(void *p) {                                                  \
    if (hits_unaligned(p, size, 0)) report_read(p, size);                                          \
  }                                                                                                \
  HOOK void __sanitizer_cov_store##size(void *p) {                                                 \
    if (hits_unaligned(p, size, 1)) report_write(p, size);                                         \
  }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
