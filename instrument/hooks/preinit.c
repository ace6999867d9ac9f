/* For executables only: instrumented libraries may have constructors that run before the program's,
 * and the linker allows a preinit array only in executables. */
void __tsan_init(void);

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = __tsan_init;
