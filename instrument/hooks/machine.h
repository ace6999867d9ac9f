/* What depends on the processor: the frame pointer, system calls, and copies that are no calls of
 * libc's functions, which are wrapped. inline.c is for x86-64 alone: plugins of compilers call it,
 * of which there are none elsewhere. The twin in Rust is crates/machine. */
#ifndef COMMSAN_MACHINE_H
#define COMMSAN_MACHINE_H

#include <stddef.h>

#if defined(__x86_64__)

#define FRAME_REGISTER "rbp"

static inline void move_bytes(void *to, const void *from, size_t size) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static inline void clear_bytes(void *to, size_t size) {
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory");
}

static inline long system_call(long call, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(call), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

#define FRAME_REGISTER "x29"

/* The Makefile keeps gcc from making calls of these loops. */
static inline void move_bytes(void *to, const void *from, size_t size) {
  for (size_t i = 0; i < size; i++) ((char *)to)[i] = ((const char *)from)[i];
}

static inline void clear_bytes(void *to, size_t size) {
  for (size_t i = 0; i < size; i++) ((char *)to)[i] = 0;
}

static inline long system_call(long call, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = call, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

#else
#error "the hooks are written for x86-64 and aarch64: machine.h needs a section for this processor"
#endif

#endif
