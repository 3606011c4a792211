#pragma once
// Pixels of pictures as sums over listed components, on a CUDA device. Not for users.
#include <holotone/smoe/render/lists/tile_lists_cuda.cuh>

namespace holotone::smoe {

/// Accumulators of blocks with several units, which are added in their order.
struct Turns {
  unsigned* turn;  ///< {slots}: next part, 0 before and after all
  float* sums;     ///< {slots, channels + 2, block_side^2}
};

/// `images`: {pictures, rows, columns, channels}.
void sum_components(const Components& components, const Frame* frames, const PictureGrid& grid, int channels,
                    const ListStore& store, const Turns& turns, float* images, unsigned processors,
                    cudaStream_t stream);

}  // namespace holotone::smoe
