/* Datatypes that nobody commits: in the function that makes them, through a structure, and where
 * only the type it was made of is committed. */
#include <mpi.h>

struct halo {
  MPI_Datatype column, row;
};

static double field[64];

static void make(struct halo *halo) {
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &halo->column);
  MPI_Type_contiguous(8, MPI_DOUBLE, &halo->row);
  MPI_Type_commit(&halo->row);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  struct halo halo;
  make(&halo);
  MPI_Send(field, 1, halo.column, 0, 0, MPI_COMM_WORLD); //~ CS-ARG-02 operation
  MPI_Send(field, 1, halo.row, 0, 0, MPI_COMM_WORLD);
  MPI_Datatype base, wide;
  MPI_Type_contiguous(2, MPI_DOUBLE, &base);
  MPI_Type_commit(&base);
  MPI_Type_create_resized(base, 0, 32, &wide);
  MPI_Bcast(field, 2, wide, 0, MPI_COMM_WORLD); //~ CS-ARG-02 operation
  MPI_Type_free(&wide);
  MPI_Type_free(&base);
  MPI_Type_free(&halo.column);
  MPI_Type_free(&halo.row);
  MPI_Finalize();
}
