/* Large copies of aggregates, as gcc's plugin compiles them: checked as plain accesses, once.
 * Source and target are disjoint or identical. */
#include "hooks.h"

HOOK void __commsan_copy(void *to, const void *from, size_t size) {
  commsan_check(from, size, 0, NULL, CALLER_PC);
  commsan_check(to, size, 1, NULL, CALLER_PC);
  move_bytes(to, from, size);
}

HOOK void __commsan_clear(void *to, size_t size) {
  commsan_check(to, size, 1, NULL, CALLER_PC);
  clear_bytes(to, size);
}
