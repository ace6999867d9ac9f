// Asks the loader for calls as libraries do that work with several versions of MPI.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static void look(const char *when) {
  const char *names[] = {"MPI_Send", "MPI_Abi_get_version", "MPI_Comm_attach_buffer", "MPIX_Stream_create"};
  for (int i = 0; i < 4; i++) printf("%s %s %d\n", when, names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL);
}

int main(int argc, char **argv) {
  look("before");
  MPI_Init(&argc, &argv);
  look("after");
  MPI_Finalize();
  return 0;
}
