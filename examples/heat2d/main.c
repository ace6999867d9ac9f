#include "heat.h"

#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  struct params p = read_params(argc > 1 ? argv[1] : "heat.in", MPI_COMM_WORLD);
  struct grid g;
  grid_create(&g, &p, MPI_COMM_WORLD);

  double seconds = solve(&g, &p);
  print_result(&g);
  if (g.rank == 0) printf("time loop %.6f s\n", seconds);
  if (p.image[0]) write_image(&g, p.image);

  grid_free(&g);
  MPI_Finalize();
  return 0;
}
