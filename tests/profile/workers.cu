// Without MPI: two processes, each with a device of its own.
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

int main()
{
	for (int device = 0; device < 2; device++)
		if (fork() == 0) {
			work(device);
			exit(0);
		}
	int bad = 0, status;
	while (wait(&status) > 0)
		bad += status != 0;
	return bad;
}
