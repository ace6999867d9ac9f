/* Files by the pointers that MPI keeps, each rank's own and the shared one, and through views: how
 * many bytes each line moves for each rank is in its comment. */
#include <mpi.h>

enum { MINE = 10 };

static int out[4 * MINE], in[4 * MINE];

int main(int argc, char **argv)
{
	int me;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_File file;
	MPI_Request request;
	MPI_Status status;
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);

	MPI_File_seek(file, me * 400, MPI_SEEK_SET);
	MPI_File_write(file, out, 3, MPI_INT, &status); /* 12 */
	MPI_File_write_all(file, out, 5, MPI_INT, MPI_STATUS_IGNORE); /* 20 */
	MPI_File_iwrite(file, out, 4, MPI_INT, &request); /* 16 */
	MPI_Wait(&request, &status);
	MPI_File_iwrite_all(file, out, 9, MPI_INT, &request); /* 36 */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_write_all_begin(file, out, 11, MPI_BYTE); /* 11 */
	MPI_File_write_all_end(file, out, &status);
	MPI_File_write_at_all(file, me * 400, out, 100, MPI_BYTE, &status); /* 100 */

	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_seek(file, me * 400, MPI_SEEK_SET);
	MPI_File_read(file, in, 3, MPI_INT, &status); /* 12 */
	MPI_File_read_all(file, in, 5, MPI_INT, MPI_STATUS_IGNORE); /* 20 */
	MPI_File_iread(file, in, 4, MPI_INT, &request); /* 16 */
	MPI_Wait(&request, &status);
	MPI_File_iread_all(file, in, 9, MPI_INT, &request); /* 36 */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_read_all_begin(file, in, 11, MPI_BYTE); /* 11 */
	MPI_File_read_all_end(file, in, &status);

	/* What lies between is not moved. */
	MPI_Datatype vector;
	MPI_Type_vector(4, 2, 5, MPI_INT, &vector);
	MPI_Type_commit(&vector);
	MPI_File_write_at(file, me * 400, out, 1, vector, &status); /* 32 */
	MPI_File_read_at(file, me * 400, in, 1, vector, MPI_STATUS_IGNORE); /* 32 */
	MPI_File_set_view(file, me * 400, MPI_INT, vector, "native", MPI_INFO_NULL);
	MPI_File_write_all(file, out, 6, MPI_INT, &status); /* 24 */
	MPI_Type_free(&vector);

	MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_write_shared(file, out, 6, MPI_INT, &status); /* 24 */
	MPI_File_iwrite_shared(file, out, 7, MPI_INT, &request); /* 28 */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_write_ordered(file, out, 8, MPI_INT, &status); /* 32 */
	MPI_File_write_ordered_begin(file, out, 9, MPI_INT); /* 36 */
	MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE);
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
	MPI_File_read_shared(file, in, 6, MPI_INT, &status); /* 24 */
	MPI_File_iread_shared(file, in, 7, MPI_INT, &request); /* 28 */
	MPI_Wait(&request, &status);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_read_ordered(file, in, 8, MPI_INT, MPI_STATUS_IGNORE); /* 32 */
	MPI_File_read_ordered_begin(file, in, 9, MPI_INT); /* 36 */
	MPI_File_read_ordered_end(file, in, &status);
	MPI_File_close(&file);
	MPI_Finalize();
}
