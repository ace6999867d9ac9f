/* Functions of libraries that start no operation: for both compilers' plugins, which decide by them
 * what can run without checks (gcc-plugin/calm.cc, llvm-pass/src/calm.rs). */
#ifndef COMMSAN_HARMLESS_H
#define COMMSAN_HARMLESS_H

#include <stdbool.h>
#include <string.h>

static inline bool commsan_is_harmless(const char *name) {
  static const char *const names[] = {
      "MPI_Abort", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Wtick", "MPI_Wtime",
      "_Exit", "_ZdaPv", "_ZdaPvm", "_ZdlPv", "_ZdlPvm", "_Znam", "_Znwm",
      "__assert_fail", "__cxa_allocate_exception", "__cxa_throw",
      "__cxa_throw_bad_array_new_length", "__stack_chk_fail", "_exit", "abort", "aligned_alloc",
      "calloc", "clock", "clock_gettime", "exit", "fflush", "fprintf", "fputc", "fputs", "free",
      "fwrite", "getenv", "gettimeofday", "malloc", "memchr", "memcmp", "memcpy", "memmove",
      "mempcpy", "memset", "mpi_abort_", "mpi_comm_rank_", "mpi_comm_size_", "mpi_wtick_",
      "mpi_wtime_", "omp_get_max_threads", "omp_get_num_threads", "omp_get_thread_num",
      "omp_get_wtime", "perror", "posix_memalign", "printf", "putchar", "puts", "realloc",
      "snprintf", "sprintf", "strcat", "strchr", "strcmp", "strcpy", "strlen", "strncmp",
      "strncpy", "time"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return true;
  /* Input and output, intrinsics and errors of Fortran; what orders and feeds the threads of an
   * OpenMP team, which do nothing else then; errors of the C++ library. */
  static const char *const starts[] = {
      "_gfortran_", "_FortranA", "GOMP_atomic_", "GOMP_barrier", "GOMP_critical_", "GOMP_loop_",
      "GOMP_single_", "__kmpc_barrier", "__kmpc_critical", "__kmpc_dispatch_", "__kmpc_end_",
      "__kmpc_for_static_", "__kmpc_global_thread_num", "__kmpc_masked", "__kmpc_master",
      "__kmpc_reduce", "__kmpc_single"};
  for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++)
    if (!strncmp(name, starts[i], strlen(starts[i]))) return true;
  return !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_");
}

/* Functions that write none of the program's variables, or never return. */
static inline bool commsan_writes_nothing(const char *name) {
  static const char *const known[] = {"MPI_Abort", "mpi_abort", "mpi_abort_", "printf",
                                      "fprintf",   "puts",      "fputs",      "putchar",
                                      "fputc",     "fwrite",    "fflush"};
  for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(name, known[i])) return true;
  return false;
}

#endif
