#pragma once
// What the renderer's kernels take of a GPU, for reports of their occupancy. Not for users.
#include <holotone/core/kernel_resources.hpp>
#include <vector>

namespace holotone::smoe {

#if HOLOTONE_CUDA
/// Kernels that list the components of `bounded` tiles, on the current device.
std::vector<KernelResources> list_kernels();
/// Kernels that sum `channels` channels.
std::vector<KernelResources> sum_kernels(int channels);
#endif

}  // namespace holotone::smoe
