// What functions of the C library are given of a structure stays the program's own.
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct run {
  MPI_Comm comm;
  int rank, steps;
  double width, whole;
  char name[64];
  struct stat about;
  omp_lock_t lock;
  int order[4];
};

static int by_number(const void *one, const void *other) {
  return *(const int *)one - *(const int *)other;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  struct run *run = calloc(1, sizeof *run);
  run->comm = MPI_COMM_WORLD;
  MPI_Comm_rank(run->comm, &run->rank);
  sscanf(argv[1], "%d", &run->steps);
  snprintf(run->name, sizeof run->name, "out.%s", argv[1]);
  run->width = modf(run->width, &run->whole);
  omp_init_lock(&run->lock);
  qsort(run->order, 4, sizeof(int), by_number);
  FILE *file = fopen(run->name, "w");
  if (file && stat(run->name, &run->about) == 0 && strcasecmp(run->name, "none"))
    fclose(file);
  MPI_Barrier(run->comm);
  omp_destroy_lock(&run->lock);
  free(run);
  MPI_Finalize();
  return 0;
}
