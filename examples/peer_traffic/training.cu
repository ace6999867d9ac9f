// A training step of a linear model on several devices. Data parallel: each device has the weights
// and its part of the samples, and NCCL adds up the gradients. With MODEL_PARALLEL, naively: all
// arrays lie on device 0, and each device computes its part of the weights out of that memory.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>
#include <vector>

#ifndef MODEL_PARALLEL
#define MODEL_PARALLEL 0
#endif

enum { MOST_DEVICES = 8, WEIGHTS = 64, SAMPLES = 64, STEPS = 2 };

// The gradient of the squared error by weights first … first + count - 1, over some samples.
__global__ void differentiate(const float *inputs, const float *targets, const float *weights, float *gradient,
			      int samples, int first, int count)
{
	int w = first + threadIdx.x;
	if (int(threadIdx.x) >= count)
		return;
	float sum = 0;
	for (int s = 0; s < samples; s++) {
		float error = -targets[s];
		for (int i = 0; i < WEIGHTS; i++)
			error += inputs[s * WEIGHTS + i] * weights[i];
		sum += 2 * error * inputs[s * WEIGHTS + w];
	}
	gradient[w] = sum;
}

__global__ void update(float *weights, const float *gradient, int first, int count)
{
	if (int(threadIdx.x) < count)
		weights[first + threadIdx.x] -= 1e-3f * gradient[first + threadIdx.x];
}

static void check(cudaError_t error)
{
	if (error != cudaSuccess) {
		fprintf(stderr, "%s\n", cudaGetErrorString(error));
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static std::vector<float> reference(const std::vector<float> &inputs, const std::vector<float> &targets)
{
	std::vector<float> weights(WEIGHTS, 0.5f);
	for (int step = 0; step < STEPS; step++) {
		std::vector<double> gradient(WEIGHTS);
		for (int s = 0; s < SAMPLES; s++) {
			double error = -targets[s];
			for (int i = 0; i < WEIGHTS; i++)
				error += inputs[s * WEIGHTS + i] * weights[i];
			for (int w = 0; w < WEIGHTS; w++)
				gradient[w] += 2 * error * inputs[s * WEIGHTS + w];
		}
		for (int w = 0; w < WEIGHTS; w++)
			weights[w] -= float(1e-3 * gradient[w]);
	}
	return weights;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int devices;
	check(cudaGetDeviceCount(&devices));
	devices = devices < MOST_DEVICES ? devices : MOST_DEVICES;
	std::vector<float> samples(SAMPLES * WEIGHTS), labels(SAMPLES), start(WEIGHTS, 0.5f), found(WEIGHTS);
	for (size_t i = 0; i < samples.size(); i++)
		samples[i] = float(i * 7919 % 13) / 13 - 0.5f;
	for (int s = 0; s < SAMPLES; s++)
		labels[s] = float(s % 5) / 5;
	float *inputs[MOST_DEVICES], *targets[MOST_DEVICES], *weights[MOST_DEVICES], *gradient[MOST_DEVICES];
	cudaStream_t streams[MOST_DEVICES];
	ncclComm_t comms[MOST_DEVICES];
	const int part = MODEL_PARALLEL ? SAMPLES : SAMPLES / devices;
	for (int d = 0; d < devices; d++) {
		check(cudaSetDevice(d));
		check(cudaStreamCreate(&streams[d]));
		for (int peer = 0; peer < devices; peer++)
			if (peer != d)
				check(cudaDeviceEnablePeerAccess(peer, 0));
		if (MODEL_PARALLEL && d > 0) {
			inputs[d] = inputs[0], targets[d] = targets[0];
			weights[d] = weights[0], gradient[d] = gradient[0];
			continue;
		}
		check(cudaMalloc(&inputs[d], part * WEIGHTS * sizeof(float)));
		check(cudaMalloc(&targets[d], part * sizeof(float)));
		check(cudaMalloc(&weights[d], WEIGHTS * sizeof(float)));
		check(cudaMalloc(&gradient[d], WEIGHTS * sizeof(float)));
		check(cudaMemcpy(inputs[d], &samples[d * part * WEIGHTS], part * WEIGHTS * sizeof(float),
				 cudaMemcpyHostToDevice));
		check(cudaMemcpy(targets[d], &labels[d * part], part * sizeof(float), cudaMemcpyHostToDevice));
		check(cudaMemcpy(weights[d], start.data(), WEIGHTS * sizeof(float), cudaMemcpyHostToDevice));
	}
	if (!MODEL_PARALLEL)
		ncclCommInitAll(comms, devices, nullptr);
	auto wait = [&] {
		for (int d = 0; d < devices; d++) {
			check(cudaSetDevice(d));
			check(cudaStreamSynchronize(streams[d]));
		}
	};
	const int share = MODEL_PARALLEL ? WEIGHTS / devices : WEIGHTS;
	wait();
	for (int step = 0; step < STEPS; step++) {
		for (int d = 0; d < devices; d++) {
			check(cudaSetDevice(d));
			differentiate<<<1, share, 0, streams[d]>>>(inputs[d], targets[d], weights[d], gradient[d],
								   part, MODEL_PARALLEL ? d * share : 0, share);
		}
		if (MODEL_PARALLEL) {
			wait();
		} else {
			ncclGroupStart();
			for (int d = 0; d < devices; d++)
				ncclAllReduce(gradient[d], gradient[d], WEIGHTS, ncclFloat, ncclSum, comms[d],
					      streams[d]);
			ncclGroupEnd(); // adds up gradients
		}
		for (int d = 0; d < devices; d++) {
			check(cudaSetDevice(d));
			update<<<1, share, 0, streams[d]>>>(weights[d], gradient[d], MODEL_PARALLEL ? d * share : 0,
							    share);
		}
		wait();
	}
	bool right = true;
	std::vector<float> expected = reference(samples, labels);
	for (int d = 0; d < devices; d++) {
		check(cudaMemcpy(found.data(), weights[d], WEIGHTS * sizeof(float), cudaMemcpyDeviceToHost));
		for (int w = 0; w < WEIGHTS; w++)
			right = right && std::fabs(found[w] - expected[w]) < 1e-3f;
		if (!MODEL_PARALLEL)
			ncclCommDestroy(comms[d]);
	}
	printf("%s\n", right ? "right" : "wrong");
	MPI_Finalize();
	return !right;
}
