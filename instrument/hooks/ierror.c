/* Calls of MPI's Fortran procedures that lack the argument for the error code. The library would
 * store the code wherever the register or the stack happens to point: plugins of compilers pass a
 * variable instead, and put a call of this hook in front. */
#include "hooks.h"

#include <errno.h>

/* Of commsan's runtime; null where that is not loaded. */
__attribute__((weak)) void commsan_api_missing_ierror(const char *procedure, const void *pc,
                                                      const void *frame);

HOOK int __commsan_ierror;

HOOK void __commsan_missing_ierror(const char *procedure) {
  int error = errno;
  if (commsan_api_missing_ierror) commsan_api_missing_ierror(procedure, CALLER_PC, caller_frame);
  errno = error;
}
