/* MPI's procedures as a library has them, and the runtime's function, which counts. */
#include <stdio.h>
#include <string.h>

static int missing;

void commsan_api_missing_ierror(const char *procedure, const void *pc, const void *frame) {
  int is_one = !strcmp(procedure, "mpi_bcast_") || !strcmp(procedure, "mpi_finalize_");
  missing += is_one && pc && frame ? 1 : 100;
}

void mpi_barrier_(int *comm, int *ierror) { *ierror = *comm; }

void mpi_bcast_(int *value, int *count, int *type, int *root, int *comm, int *ierror) {
  *value = *count + *type + *root + *comm;
  *ierror = 7;
}

void mpi_finalize_(int *ierror) { *ierror = 8; }

void expect_(int *value, int *code) {
  puts(missing == 2 && *value == 6 && *code == 0 ? "passed" : "failed");
}
