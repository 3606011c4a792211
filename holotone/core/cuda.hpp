#pragma once
#include <string>
#include <vector>

// For programs that bring CUDA's libraries along, as packages of Python and environments of conda do.

namespace holotone {

/// Sets the folders that cuFFT, cuBLASLt and NVRTC are loaded from; none at first. Each library is loaded when a plan
/// on CUDA first needs it: a program starts without them. Order of the search: what the process has loaded already;
/// `folders` (".../site-packages/nvidia/cu13/lib", then conda's "$CONDA_PREFIX/lib"); the system's loader;
/// /usr/local/cuda/lib64. A plan throws unsupported, naming the library and these places, if it is in none of them; a
/// later plan searches again. Libraries that are loaded stay. No effect in a build without CUDA. Any thread may call
/// this.
void set_cuda_library_folders(std::vector<std::string> folders);

/// Makes a CUDA device ready for the process, which its first queue or array does otherwise (0.1 to 0.3 s): a thread of
/// its own can do so while files are read. For short programs, the device's first 32 arrays then are none of its pool:
/// 8 ms less, and freeing one waits for the device. Throws device; no effect in a build without CUDA.
void open_cuda(int index);

/// Libraries of CUDA that plans load.
enum class CudaLibrary { cublaslt, cufft };

/// Loads a library that a later plan needs, if there is one: cuBLASLt holds half a gigabyte, and a thread of its own
/// can load it while files are read. Does not throw; any thread may call it.
void preload(CudaLibrary library) noexcept;

}  // namespace holotone
