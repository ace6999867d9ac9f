/* Functions of libraries that start no operation and wait for no other thread. Both compilers'
 * plugins leave checks out of what calls nothing else while nothing is pending. */
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
  /* Input and output, intrinsics and errors of Fortran; errors of the C++ library. */
  static const char *const starts[] = {"_gfortran_", "_FortranA"};
  for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++)
    if (!strncmp(name, starts[i], strlen(starts[i]))) return true;
  return !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_");
}

#endif
