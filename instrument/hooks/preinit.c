/* Executables only: instrumented libraries may have constructors that run before the program's,
 * and the linker allows a preinit array nowhere else. */
void __tsan_init(void);

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = __tsan_init;
