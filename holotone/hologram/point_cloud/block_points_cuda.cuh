#pragma once
// Points that light a block of a panel, for clouds of which few points light a block. Not for users.
#include <cstddef>
#include <holotone/core/array.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>

namespace holotone::point_cloud {

/// Copies the points that light one block after the other to memory of its own.
class BlockPoints {
 public:
  BlockPoints(const PointCloudOptions& options, Queue queue) : options_(options), queue_(std::move(queue)) {}

  /// Returns the points that light a pixel of the block, in their order; all of them without a band limit. Valid until
  /// the next call. Waits for the device. Cost: 12 bytes read for each point of the cloud, 40 moved for each that
  /// lights the block.
  PointSources select(const PointSources& all, const PanelBlock& block);
  [[nodiscard]] std::size_t bytes() const;

 private:
  PointCloudOptions options_;
  Queue queue_;
  Array<int, 1> index_;  ///< of the points found, then their number
  Array<std::byte, 1> scratch_;
  Array<float, 1> position_m_;
  Array<float, 1> amplitude_;
  Array<float, 1> phase_rad_;
};

}  // namespace holotone::point_cloud
