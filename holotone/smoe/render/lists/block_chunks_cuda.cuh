#pragma once
// List of one block in chunks, written by one warp. Not for users.
#include <holotone/smoe/render/lists/tile_lists_cuda.cuh>

namespace holotone::smoe {

class BlockChunks {
 public:
  __device__ BlockChunks(const ListStore& store, unsigned block, int lane)
      : store_(store), block_(block), lane_(lane), chunk_(block) {}

  /// Empties the list; keeps the block's chunks.
  __device__ __forceinline__ void restart() {
    chunk_ = block_;
    parts_ = 0;
    count_ = 0;
  }

  /// Makes room for one component of every lane.
  __device__ __forceinline__ void make_room() {
    if (count_ + 32 > max_in_unit) next_chunk();
  }

  /// Lists the lanes' components with the tiles that need them, if any do.
  __device__ __forceinline__ void add(unsigned component, unsigned tiles) {
    const unsigned listed = __ballot_sync(all_lanes, tiles != 0);
    if (tiles != 0 && !full_) {
      store_.listed[chunk_ * max_in_unit + count_ + __popc(listed & ((1U << lane_) - 1))] = {component, tiles};
    }
    count_ += __popc(listed);
  }

  /// True if no chunk was left: the list lacks components.
  __device__ bool full() const { return full_; }
  /// Chunks before the last one.
  __device__ unsigned parts() const { return parts_; }
  __device__ float components() const {
    return static_cast<float>(parts_ * max_in_unit + static_cast<unsigned>(count_));
  }

  /// Ends the last chunk.
  __device__ __forceinline__ void close() {
    if (lane_ == 0) store_.chunk[chunk_].count = static_cast<unsigned>(count_);
  }

 private:
  /// Ends the current chunk and goes to the next one, from an earlier try if there is one.
  __device__ void next_chunk() {
    ++parts_;
    unsigned next = 0;
    if (lane_ == 0) {
      Chunk& chunk = store_.chunk[chunk_];
      chunk.count = static_cast<unsigned>(count_);
      if (parts_ > chain_) chunk.next = store_.first_free + atomicAdd(&store_.counts->chunks, 1U);
      next = chunk.next;
    }
    next = __shfl_sync(all_lanes, next, 0);
    chain_ = max(chain_, parts_);
    count_ = 0;
    full_ = full_ || next - store_.first_free >= store_.max_chunks;
    if (!full_) chunk_ = next;
  }

  const ListStore& store_;
  const unsigned block_;
  const int lane_;
  unsigned chunk_;      ///< current chunk
  int count_ = 0;       ///< components in it
  unsigned parts_ = 0;  ///< chunks before it
  unsigned chain_ = 0;  ///< chunks taken by the block
  bool full_ = false;
};

}  // namespace holotone::smoe
