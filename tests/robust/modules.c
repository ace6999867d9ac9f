// Loads a library for itself alone, as Python loads modules: what it needs nobody else sees.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; i++) {
    void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    int (*sum)(int) = library ? (int (*)(int))dlsym(library, "sum") : NULL;
    if (!sum) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    printf("sum %d\n", sum(1000));
    dlclose(library);
  }
  MPI_Finalize();
  return 0;
}
