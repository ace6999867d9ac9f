/* Reads and writes of files in all ways: how many bytes each moves is in the comment, of reads what
 * there is, not what there would be room for. */
#include <mpi.h>
#include <stdlib.h>

enum { ROOM = 1000, MINE = 10 };

/* Open MPI 4.1 waits for ever for the rest of a nonblocking read beyond the end; MPICH 4.0 says
 * that all has come of a collective one. */
#ifdef OPEN_MPI
#define UP_TO(there) (there)
#define TOGETHER(there) ROOM
#else
#define UP_TO(there) ROOM
#define TOGETHER(there) (there)
#endif

static int out[MINE], in[2 * ROOM];

int main(int argc, char **argv)
{
	int me, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Offset at = me * (MPI_Offset)sizeof out, end = size * (MPI_Offset)sizeof out;
	MPI_File file;
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_File_write_at_all(file, at, out, MINE, MPI_INT, MPI_STATUS_IGNORE); /* 40 */
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_sync(file);

	MPI_Status status;
	MPI_Request requests[2];
	MPI_File_read_at(file, end - 12, in, ROOM, MPI_INT, MPI_STATUS_IGNORE); /* 12 */
	MPI_File_read_at_all(file, end - 20, in, TOGETHER(5), MPI_INT, &status); /* 20 */
	MPI_File_read_at(file, end - 6, in, ROOM, MPI_INT, &status); /* 6 */
	MPI_File_iread_at(file, end - 8, in, UP_TO(2), MPI_INT, requests); /* 8 */
	MPI_Wait(requests, MPI_STATUS_IGNORE);
	for (int i = 0; i < 2; i++)
		MPI_File_iread_at(file, end - 4 - 4 * i, in + i * ROOM, UP_TO(1 + i), MPI_INT, requests + i); /* 12 */
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_File_iread_at_all(file, end - 16, in, 4, MPI_INT, requests); /* 16 */
	for (int done = 0; !done;)
		MPI_Test(requests, &done, MPI_STATUS_IGNORE);
	MPI_File_read_at_all_begin(file, end - 24, in, 6, MPI_INT); /* 24 */
	MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
	MPI_File_iread_at(file, end - 28, in, UP_TO(7), MPI_INT, requests); /* 28 */
	for (int done = 0, which; !done;)
		MPI_Waitsome(1, requests, &done, &which, &status);

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_write_at_all_begin(file, at, out, MINE, MPI_INT); /* 40 */
	MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
	MPI_File_iwrite_at(file, at, out, MINE - 1, MPI_INT, requests); /* 36 */
	MPI_Wait(requests, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	MPI_Finalize();
}
