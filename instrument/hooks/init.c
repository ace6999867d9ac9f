/* Maps the ABI header and the page filter, unless the runtime or another module already did.
 *
 * This must happen before the first hook or wrapper of this module runs: preinit.c ensures it in
 * executables, the first constructor in libraries. The compilers' own calls of `__tsan_init` only
 * ensure that this file is linked. Without the runtime the pages stay zero: reads map the kernel's
 * zero page, and every check passes.
 */
#define _GNU_SOURCE
#include "hooks.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

bool commsan_disagrees;

/* Marks the file as a module with hooks, for tools that do not see the process: an ELF note that
 * survives strip, with the ABI's version. */
#define TEXT(x) #x
#define NOTE(version)                                                                              \
  __asm__(".pushsection .note.commsan, \"a\", @note\n"                                            \
          ".balign 4\n .long 8, 4, 1\n .asciz \"commsan\"\n .long " TEXT(version) "\n"           \
          ".popsection")
NOTE(COMMSAN_ABI_VERSION);

static uintptr_t libc_begin, libc_end;
static uintptr_t runtime_begin, runtime_end;

/* A function interposed by the runtime counts as libc's. */
bool commsan_is_libc(const void *function) {
  return (uintptr_t)function - libc_begin < libc_end - libc_begin ||
         (uintptr_t)function - runtime_begin < runtime_end - runtime_begin;
}

/* Whether a path is that of a runtime, and not of the injector. Written without string functions,
 * which are wrapped. */
static bool is_runtime(const char *path) {
  static const char prefix[] = "libcommsan_";
  const char *name = path;
  for (const char *c = path; *c; c++)
    if (*c == '/') name = c + 1;
  for (size_t i = 0; i < sizeof(prefix) - 1; i++)
    if (name[i] != prefix[i]) return false;
  return name[sizeof(prefix) - 1] != 'i';
}

/* Finds the runtime among the loaded modules. */
static int find_runtime(struct dl_phdr_info *module, size_t size, void *nothing) {
  (void)size, (void)nothing;
  if (!module->dlpi_name || !is_runtime(module->dlpi_name)) return 0;
  for (int i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    runtime_begin = module->dlpi_addr + segment->p_vaddr;
    runtime_end = runtime_begin + segment->p_memsz;
    return 1;
  }
  return 0;
}

/* Finds the module that defines a function which no program has a reason to define. */
static int find_libc(struct dl_phdr_info *module, size_t size, void *known) {
  (void)size;
  for (int i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
    uintptr_t begin = module->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD || (uintptr_t)known - begin >= segment->p_memsz) continue;
    libc_begin = begin;
    libc_end = begin + segment->p_memsz;
    return 1;
  }
  return 0;
}

static void find_libraries(void) {
  dl_iterate_phdr(find_libc, (void *)gnu_get_libc_version);
  dl_iterate_phdr(find_runtime, NULL);
}

/* Without libc: an ifunc resolver may lead here while this module is being relocated, when no
 * function of another module can be called, and libc's are wrapped anyway. */
#define kernel system_call

#define SAY(text) ((void)kernel(SYS_write, STDERR_FILENO, (long)(text), sizeof text - 1, 0, 0, 0))

bool commsan_is_mapped;

void commsan_map(void) {
  const long length = 4096 + (1l << COMMSAN_SLOT_BITS);
  const long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (commsan_is_mapped) return;
  commsan_is_mapped = true;
  long got = kernel(SYS_mmap, (long)COMMSAN_ABI, length, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (got == (long)COMMSAN_ABI) {
    kernel(SYS_madvise, got, length, MADV_DONTDUMP, 0, 0, 0);
    COMMSAN_ABI->version = COMMSAN_ABI_VERSION;
    COMMSAN_ABI->magic = COMMSAN_ABI_MAGIC;
    return;
  }
  /* A kernel older than 4.17 treats the address only as a hint. */
  if (got > 0) kernel(SYS_munmap, got, length, 0, 0, 0, 0);
  if ((got > 0 || got == -EEXIST) && COMMSAN_ABI->magic == COMMSAN_ABI_MAGIC) return;
  SAY("commsan: cannot map 64 MiB at 0x100000000000 for the page filter.\n"
      "  This program was compiled with commsan and needs that address range.\n"
      "  If `ulimit -v` is set, raise it or run with `ulimit -v unlimited`; if something else\n"
      "  is mapped there (another sanitizer?), build that part without it.\n");
  kernel(SYS_exit_group, 1, 0, 0, 0, 0, 0);
}

HOOK __attribute__((constructor(0))) void __tsan_init(void) {
  static bool done;
  if (done) return;
  done = true;
  commsan_map();
  if (COMMSAN_ABI->version != COMMSAN_ABI_VERSION) {
    commsan_disagrees = true;
    SAY("commsan: this program was linked with hooks of another commsan version; its memory\n"
        "  accesses are not checked. Relink it with the commsan that runs it.\n");
  } else {
    find_libraries();
    __atomic_fetch_add(&COMMSAN_ABI->hooked, 1, __ATOMIC_RELAXED);
  }
}
