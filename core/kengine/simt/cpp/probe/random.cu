// kengine's own use of the emulator's random numbers.
#include <curand_kernel.h>

template <class State>
__device__ float probe_draw(unsigned long long seed) {
  State state;
  curand_init(seed, threadIdx.x, 0, &state);
  return curand_uniform(&state) + curand_normal(&state) + static_cast<float>(curand(&state));
}

__global__ void probe_random(float* x, unsigned long long seed) {
  x[threadIdx.x] = probe_draw<curandState>(seed) + probe_draw<curandStatePhilox4_32_10_t>(seed);
}
