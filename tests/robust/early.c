// Looks for functions that nobody defines before anything else runs: `dlsym` then frees what it has
// said of the one before, when no constructor has run yet. As a library, when it is loaded.
#define _GNU_SOURCE
#include <dlfcn.h>

static void *volatile found; // else the last call would seem to come from who has called this

static void look(void) {
  found = dlsym(RTLD_DEFAULT, "no_such_function");
  found = dlsym(RTLD_DEFAULT, "no_such_function_either");
}

#ifdef LIBRARY
__attribute__((constructor)) static void load(void) { look(); }
#else
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *numbers;

static void before_all(int argc, char **argv, char **environment) {
  (void)argc, (void)argv, (void)environment;
  look();
  const char *error = dlerror();
  if (!error || !strstr(error, "no_such_function_either")) _Exit(3);
  numbers = realloc(NULL, 10);
  strcpy(numbers, "123456789");
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = before_all;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  numbers = realloc(numbers, 100000);
  puts(numbers);
  free(numbers);
  MPI_Finalize();
}
#endif
