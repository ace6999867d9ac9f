/* Datatypes that are committed: elsewhere, through a pointer, in a loop, or that need not be. */
#include <mpi.h>

struct halo {
  MPI_Datatype column, row;
};

static double field[64];
static char packed[256];

static void commit(MPI_Datatype *type) { MPI_Type_commit(type); }

static void make(struct halo *halo) {
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &halo->column);
  MPI_Type_contiguous(8, MPI_DOUBLE, &halo->row);
  MPI_Datatype *both[2] = {&halo->column, &halo->row};
  for (int i = 0; i < 2; i++) commit(both[i]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  struct halo halo;
  make(&halo);
  MPI_Send(field, 1, halo.column, 0, 0, MPI_COMM_WORLD);
  MPI_Send(field, 1, halo.row, 0, 0, MPI_COMM_WORLD);
  MPI_Datatype base, wide, copy;
  int position = 0;
  MPI_Type_contiguous(2, MPI_DOUBLE, &base); /* only a part of another */
  MPI_Pack(field, 1, base, packed, sizeof packed, &position, MPI_COMM_WORLD);
  MPI_Type_create_resized(base, 0, 32, &wide);
  MPI_Type_commit(&wide);
  MPI_Type_dup(wide, &copy); /* committed, too */
  MPI_Bcast(field, 2, wide, 0, MPI_COMM_WORLD);
  MPI_Bcast(field, 2, copy, 0, MPI_COMM_WORLD);
  MPI_Type_free(&copy);
  MPI_Type_free(&wide);
  MPI_Type_free(&base);
  MPI_Type_free(&halo.column);
  MPI_Type_free(&halo.row);
  MPI_Finalize();
}
