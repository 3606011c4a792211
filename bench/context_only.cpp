// Creates a CUDA context and ends: the least that a command on a GPU takes. Exit code 77 without a device.
#include <cuda_runtime_api.h>

int main() { return cudaFree(nullptr) == cudaSuccess ? 0 : 77; }
