// Without MPI: two processes, each with a device of its own; one of them is another program.
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

static void work(int device)
{
	size_t bytes = 1000 * (device + 1);
	char *host = (char *)calloc(bytes, 1), *there;
	cudaSetDevice(device);
	cudaMalloc(&there, bytes);
	cudaMemcpy(there, host, bytes, cudaMemcpyHostToDevice);
	cudaMemcpy(host, there, bytes / 2, cudaMemcpyDeviceToHost);
	cudaFree(there);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		work(atoi(argv[1]));
		return 0;
	}
	if (fork() == 0) {
		work(0);
		exit(0);
	}
	if (fork() == 0) {
		execl("/proc/self/exe", argv[0], "1", (char *)0);
		exit(1);
	}
	int bad = 0, status;
	while (wait(&status) > 0)
		bad += status != 0;
	return bad;
}
