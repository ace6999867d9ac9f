/* Each marked line is looked up by the address that follows its label. */
#include <stddef.h>

extern const char at_store[], at_inlined[], at_main[];

static inline __attribute__((always_inline)) void fill(volatile int *buffer) {
    buffer[1] = 2; __asm__ volatile(".globl at_inlined\nat_inlined: nop");
}

__attribute__((noinline)) void pack(volatile int *buffer) {
    buffer[0] = 1; __asm__ volatile(".globl at_store\nat_store: nop");
    fill(buffer);
}

int main(void) {
    volatile int buffer[2];
    pack(buffer);
    __asm__ volatile(".globl at_main\nat_main: nop");
    return buffer[0] - 1;
}
