/* Two ranks meet three more of this program, which they spawn, by one command or with `several`, or
 * which `connect` to the port that they `accept` by, told in a FILE; both jobs talk among
 * themselves, and with each other. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void spawn_several(char *name, MPI_Comm *other)
{
	int many[2] = {1, 2};
	MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
	char *names[2] = {name, name};
	MPI_Comm_spawn_multiple(2, names, MPI_ARGVS_NULL, many, infos, 0, MPI_COMM_WORLD, other, MPI_ERRCODES_IGNORE);
}

static void accept_others(const char *path, int rank, MPI_Comm *other)
{
	char port[MPI_MAX_PORT_NAME] = "", hidden[4096];
	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		snprintf(hidden, sizeof hidden, "%s.new", path);
		FILE *file = fopen(hidden, "w");
		fprintf(file, "%s\n", port);
		fclose(file);
		rename(hidden, path);
	}
	MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, other);
}

static void connect_to(const char *path, int rank, MPI_Comm *other)
{
	char port[MPI_MAX_PORT_NAME] = "";
	FILE *file = NULL;
	while (rank == 0 && !(file = fopen(path, "r")))
		usleep(10000);
	if (file && fgets(port, sizeof port, file))
		port[strcspn(port, "\n")] = '\0';
	MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, other);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm other;
	MPI_Comm_get_parent(&other);
	const char *how = argc > 1 ? argv[1] : "";
	int connects = strcmp(how, "connect") == 0;
	int is_child = other != MPI_COMM_NULL || connects, rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int from_child[8] = {0}, to_child[4] = {0}, sum[2] = {rank, size}, all[2];
	if (is_child) {
		if (connects)
			connect_to(argv[2], rank, &other);
		if (rank == 2)
			MPI_Send(from_child, 8, MPI_INT, 1, 0, other);
		MPI_Bcast(to_child, 4, MPI_INT, 0, other);
	} else {
		if (strcmp(how, "accept") == 0)
			accept_others(argv[2], rank, &other);
		else if (strcmp(how, "several") == 0)
			spawn_several(argv[0], &other);
		else
			MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
		if (rank == 1)
			MPI_Recv(from_child, 8, MPI_INT, 2, 0, other, MPI_STATUS_IGNORE);
		MPI_Bcast(to_child, 4, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
	}
	MPI_Allreduce(sum, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Comm everybody;
	MPI_Intercomm_merge(other, is_child, &everybody);
	MPI_Allgather(sum, 1, MPI_INT, (int[5]){0}, 1, MPI_INT, everybody);
	MPI_Comm_free(&everybody);
	MPI_Comm_disconnect(&other);
	MPI_Finalize();
	return 0;
}
