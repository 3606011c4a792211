#pragma once
// What the renderer's kernels take of a GPU, for reports of their occupancy. Not for users.
#include <holotone/core/kernel_resources.hpp>
#include <vector>

namespace holotone::smoe {

/// Kernels that list the components of `bounded` tiles, on the current device. CUDA builds only.
std::vector<KernelResources> list_kernels();
/// Kernels that sum `channels` channels. CUDA builds only.
std::vector<KernelResources> sum_kernels(int channels);

}  // namespace holotone::smoe
