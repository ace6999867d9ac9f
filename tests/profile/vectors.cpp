// Small memory that C++ allocates: once, and for each message.
#include <memory>
#include <mpi.h>
#include <vector>

struct Cell {
	double *flux;
	explicit Cell(int n) : flux(new double[n]()) {}
	~Cell() { delete[] flux; }
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	std::vector<int> counts(4, 1);
	auto norm = std::make_unique<double>(1.0);
	Cell cell(5);
	for (int step = 0; step < 3000; step++) {
		std::vector<double> residual(3, step);
		MPI_Allreduce(MPI_IN_PLACE, residual.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Allreduce(MPI_IN_PLACE, counts.data(), 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, norm.get(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, cell.flux, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
}
