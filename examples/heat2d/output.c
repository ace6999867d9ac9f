/* The result as one line of text, and as a picture. */
#include "heat.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The checksum is a sum of integers made from all bits of all cells, so it does not depend on the
 * number of ranks, as a sum of floating-point numbers would. */
void print_result(const struct grid *g) {
  uint64_t bits, sum = 0, checksum;
  double heat = 0, mean;
  for (int j = 1; j <= g->ny; j++) {
    for (int i = 1; i <= g->nx; i++) {
      const double *cell = &g->now[at(g, i, j)];
      uint64_t number = (uint64_t)(g->y0 + j) * (uint64_t)g->global_nx + (uint64_t)(g->x0 + i);
      memcpy(&bits, cell, sizeof bits);
      sum += bits * (2 * number + 1);
      heat += *cell;
    }
  }
  MPI_Reduce(&sum, &checksum, 1, MPI_UINT64_T, MPI_SUM, 0, g->comm);
  MPI_Reduce(&heat, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, g->comm);
  if (g->rank == 0) {
    printf("mean temperature %.6f  checksum %016llx\n", mean / g->global_nx / g->global_ny,
           (unsigned long long)checksum);
  }
}

/* A rank's block without halo, as a part of an array of nx * ny cells. */
static MPI_Datatype part_of(int nx, int ny, int part_nx, int part_ny, int x0, int y0) {
  MPI_Datatype type;
  MPI_Type_create_subarray(2, (int[]){ny, nx}, (int[]){part_ny, part_nx}, (int[]){y0, x0},
                           MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void write_pgm(const double *cells, int nx, int ny, const char *file) {
  double low = cells[0], high = cells[0];
  for (int k = 0; k < nx * ny; k++) {
    if (cells[k] < low) low = cells[k];
    if (cells[k] > high) high = cells[k];
  }
  FILE *out = fopen(file, "wb");
  if (!out) MPI_Abort(MPI_COMM_WORLD, 1);
  fprintf(out, "P5 %d %d 255\n", nx, ny);
  for (int k = 0; k < nx * ny; k++) {
    fputc(high > low ? (int)(255 * (cells[k] - low) / (high - low)) : 0, out);
  }
  fclose(out);
}

void write_image(const struct grid *g, const char *file) {
  MPI_Request request;
  MPI_Datatype mine = part_of(g->nx + 2, g->ny + 2, g->nx, g->ny, 1, 1);
  MPI_Isend(g->now, 1, mine, 0, 0, g->comm, &request);
  if (g->rank == 0) {
    int ranks, nx, ny, x0, y0;
    double *all = malloc((size_t)g->global_nx * (size_t)g->global_ny * sizeof *all);
    if (!all) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_size(g->comm, &ranks);
    for (int rank = 0; rank < ranks; rank++) {
      block_of(g, rank, &nx, &ny, &x0, &y0);
      MPI_Datatype part = part_of(g->global_nx, g->global_ny, nx, ny, x0, y0);
      MPI_Recv(all, 1, part, rank, 0, g->comm, MPI_STATUS_IGNORE);
      MPI_Type_free(&part);
    }
    write_pgm(all, g->global_nx, g->global_ny, file);
    free(all);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&mine);
}
