// A method returns where only one rank is to write.
#include <mpi.h>
#include <iostream>
#include <stdexcept>

class Grid {
 public:
  explicit Grid(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
  }
  ~Grid() { MPI_Comm_free(&comm_); }
  double norm(double mine) const {
    if (!(mine >= 0)) throw std::runtime_error("negative");
    if (rank_ == 0) return mine; //~ CS-COL-01 cause
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm_); //~ CS-COL-01 access
    return all;
  }

 private:
  MPI_Comm comm_;
  int rank_;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  {
    Grid grid(MPI_COMM_WORLD);
    try {
      std::cout << grid.norm(1) << "\n";
    } catch (const std::exception &error) {
      std::cerr << error.what() << "\n";
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
}
