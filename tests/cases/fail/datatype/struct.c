// Position and mass of particles are received; the mass is read before completion.
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  double position[3];
  int cell;
  float mass;
} particle;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int peer = 1 - rank;

  static particle in[5], out[5];
  float mass = 0;
  int lengths[2] = {3, 1};
  MPI_Aint displacements[2] = {offsetof(particle, position), offsetof(particle, mass)};
  MPI_Datatype types[2] = {MPI_DOUBLE, MPI_FLOAT}, members, moved;
  MPI_Type_create_struct(2, lengths, displacements, types, &members);
  MPI_Type_create_resized(members, 0, sizeof(particle), &moved);
  MPI_Type_commit(&moved);
  MPI_Type_free(&members);
  for (int i = 0; i < 5; i++) {
    out[i].mass = i;
    in[i].cell = -1;
  }
  MPI_Request request;
  MPI_Irecv(in, 5, moved, peer, 0, MPI_COMM_WORLD, &request); //~ CS-BUF-02 operation
  MPI_Send(out, 5, moved, peer, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 5; i++) {
    in[i].cell++;
    mass += in[i].mass; //~ CS-BUF-02 access
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&moved);

  printf("%s\n", mass == 10 && in[4].cell == 0 ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
