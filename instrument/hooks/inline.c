/* Slow paths of the checks that a compiler plugin inserts inline, taken if the filter byte concerns
 * the access.
 *
 * These calls lie on an unlikely path, so they preserve every register, including vectors: the
 * likely path keeps its values in registers as if there were no call. This file is compiled for
 * general registers only; the vector state is saved only around calls of the runtime.
 */
#include "note.h"

#include <cpuid.h>

#define KEEPS_REGISTERS __attribute__((no_caller_saved_registers))

/* Calls commsan_report for `addr, size, write, NULL, pc, frame`, preserving all registers. */
__attribute__((visibility("hidden"))) KEEPS_REGISTERS void
commsan_report_inline(uintptr_t addr, size_t size, int write, const void *pc, const void *frame);

/* 1 if the processor has XSAVE and the system uses it, 2 if there is only FXSAVE. */
__attribute__((visibility("hidden"))) unsigned char commsan_vector_saving;

/* XSAVE of x87, SSE, AVX and AVX-512 needs 2,688 bytes; its header must be zero before. */
__asm__(".text\n"
        ".type commsan_report_inline, @function\n"
        "commsan_report_inline:\n"
        "  push %rax\n push %r9\n push %r10\n push %r11\n push %r12\n"
        "  push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n"
        "  mov %rsp, %r12\n"
        "  sub $2752, %rsp\n"
        "  and $-64, %rsp\n"
        "  cmpb $1, commsan_vector_saving(%rip)\n"
        "  jne 1f\n"
        "  xor %eax, %eax\n"
        "  mov %rax, 512(%rsp)\n mov %rax, 520(%rsp)\n mov %rax, 528(%rsp)\n"
        "  mov %rax, 536(%rsp)\n mov %rax, 544(%rsp)\n mov %rax, 552(%rsp)\n"
        "  mov %rax, 560(%rsp)\n mov %rax, 568(%rsp)\n"
        "  mov $0xe7, %eax\n xor %edx, %edx\n"
        "  xsave64 (%rsp)\n"
        "  jmp 2f\n"
        "1: fxsave64 (%rsp)\n"
        "2: mov (%r12), %r9\n"
        "  mov 8(%r12), %r8\n"
        "  xor %ecx, %ecx\n"
        "  mov 16(%r12), %rdx\n"
        "  call commsan_report\n"
        "  cmpb $1, commsan_vector_saving(%rip)\n"
        "  jne 3f\n"
        "  mov $0xe7, %eax\n xor %edx, %edx\n"
        "  xrstor64 (%rsp)\n"
        "  jmp 4f\n"
        "3: fxrstor64 (%rsp)\n"
        "4: mov %r12, %rsp\n"
        "  pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n"
        "  pop %r12\n pop %r11\n pop %r10\n pop %r9\n pop %rax\n"
        "  ret\n"
        ".size commsan_report_inline, . - commsan_report_inline\n");

static unsigned char vector_saving(void) {
  unsigned a, b, c, d;
  const bool xsave = __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE;
  return xsave ? 1 : 2;
}

static inline __attribute__((always_inline)) void check(uintptr_t addr, size_t size, int write,
                                                        const void *pc) {
  const bool note = must_note(addr, size, write, NULL, pc), hit = granules_hit(addr, size, write);
  if (!note && !hit) return;
  if (!commsan_vector_saving) commsan_vector_saving = vector_saving();
  if (note) commsan_report_inline(addr, size, write | COMMSAN_NOTE, pc, caller_frame);
  if (hit) commsan_report_inline(addr, size, write, pc, caller_frame);
}

#define HOOKS(name, write)                                                                         \
  HOOK KEEPS_REGISTERS void __commsan_##name(const void *p, size_t size) {                         \
    check((uintptr_t)p, size, write, CALLER_PC);                                                   \
  }

/* `size` is at most 64; some byte of the access lies in a page that concerns it. */
HOOKS(read, 0)
HOOKS(write, 1)

/* Whether nothing concerns the bytes from the first enabled lane to the last, which mostly decides
 * about all lanes at once. Disabled lanes are not recorded, so memory to be recorded is no such. */
static inline __attribute__((always_inline)) bool span_is_clear(uintptr_t addr, size_t element,
                                                                uint64_t lanes, int write) {
  const unsigned first = __builtin_ctzll(lanes), last = 63 - __builtin_clzll(lanes);
  const size_t size = element * (last - first + 1);
  const uintptr_t start = addr + element * first;
  if (size > 64 || is_exposed(start) || is_exposed(start + size - 1)) return false;
  return !granules_hit(start, size, write);
}

/* Vectors with lanes that may be disabled; `lanes` are the enabled ones. Elements are contiguous,
 * or each is at an address of its own. */
#define VECTOR_HOOKS(name, write)                                                                  \
  HOOK KEEPS_REGISTERS void __commsan_##name##_lanes(const char *p, size_t element,                \
                                                     uint64_t lanes) {                             \
    if (!lanes || span_is_clear((uintptr_t)p, element, lanes, write)) return;                      \
    for (; lanes; lanes &= lanes - 1)                                                              \
      check((uintptr_t)p + element * __builtin_ctzll(lanes), element, write, CALLER_PC);           \
  }                                                                                                \
  HOOK KEEPS_REGISTERS void __commsan_##name##_scattered(const uintptr_t *addresses,               \
                                                         size_t element, uint64_t lanes) {         \
    for (; lanes; lanes &= lanes - 1)                                                              \
      check(addresses[__builtin_ctzll(lanes)], element, write, CALLER_PC);                         \
  }

VECTOR_HOOKS(read, 0)
VECTOR_HOOKS(write, 1)

/* Reports that threads access these bytes, while there are several threads: their pages are
 * recorded from now on, as if they were exposed. */
HOOK KEEPS_REGISTERS void __commsan_share(const void *p, size_t size) {
  const uintptr_t addr = (uintptr_t)p;
  if (!(uint32_t)COMMSAN_ABI->parallel || commsan_disagrees) return;
  if (size <= 4096 && is_exposed(addr) && is_exposed(addr + size - 1)) return;
  if (!commsan_vector_saving) commsan_vector_saving = vector_saving();
  commsan_report_inline(addr, size, COMMSAN_SHARE, CALLER_PC, caller_frame);
}

/* Links the file that maps the filter. */
void __tsan_init(void);
__attribute__((used)) static void (*const needs_init)(void) = __tsan_init;
