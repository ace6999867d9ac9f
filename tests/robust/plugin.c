// As a program: opens the library that its argument names and calls `work` there. As a library,
// compiled with -DPLUGIN: writes to a buffer that the program is sending.
#include <mpi.h>
#include <stdio.h>

#ifdef PLUGIN
int work(int *buffer, int n) {
  buffer[n / 2] = 5;
  return n;
}
#else
#include <dlfcn.h>

int main(int argc, char **argv) {
  int out[16] = {0}, in[16];
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Isend(out, 16, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int (*work)(int *, int) = (int (*)(int *, int))dlsym(library, "work");
    if (work(out, 16) != 16) return 1;
    dlclose(library);
  }
  MPI_Recv(in, 16, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
#endif
