// Datatypes that differ in their layout, not in their signature; and no data at all.
//# np: 3
#include <mpi.h>
#include <stddef.h>

typedef struct {
  double mass;
  int id;
} particle;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double data[24] = {0};
  if (rank == 0)
    for (int i = 0; i < 24; i++) data[i] = i;
  MPI_Datatype column, block, resized;
  MPI_Type_vector(4, 1, 6, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &resized);
  MPI_Type_contiguous(2, MPI_DOUBLE, &block);
  MPI_Type_commit(&resized);
  MPI_Type_commit(&block);
  if (rank == 0) MPI_Bcast(data, 3, resized, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Bcast(data, 12, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 2) MPI_Bcast(data, 6, block, 0, MPI_COMM_WORLD);
  if (rank != 0 && (data[1] != 6 || data[4] != 1)) return 1;

  particle one = {rank == 0 ? 2.5 : 0, rank == 0 ? 7 : 0}, two[2] = {{0, 0}, {0, 0}};
  MPI_Datatype type, old[2] = {MPI_DOUBLE, MPI_INT};
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {offsetof(particle, mass), offsetof(particle, id)};
  MPI_Type_create_struct(2, lengths, places, old, &type);
  MPI_Type_commit(&type);
  if (rank == 0) MPI_Bcast(&one, 1, type, 0, MPI_COMM_WORLD);
  if (rank != 0) {
    MPI_Datatype pair;
    MPI_Type_dup(type, &pair);
    MPI_Bcast(&two[1], 1, pair, 0, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
    if (two[1].mass != 2.5 || two[1].id != 7) return 1;
  }
  MPI_Bcast(data, 0, rank ? MPI_INT : MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, data, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  long long count = rank;
  if (rank == 0) MPI_Bcast(&count, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  if (rank != 0) MPI_Bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  MPI_Type_free(&column);
  MPI_Type_free(&resized);
  MPI_Type_free(&block);
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
