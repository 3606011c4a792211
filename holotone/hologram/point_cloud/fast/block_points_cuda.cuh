#pragma once
// Points that light a block of a panel, for clouds of which few points light a block. Not for users.
#include <cstddef>
#include <holotone/core/array.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>

namespace holotone::point_cloud {

/// Keeps points, and copies those that light one block after the other.
class BlockPoints {
 public:
  BlockPoints(const PointCloudOptions& options, Queue queue) : options_(options), queue_(std::move(queue)) {}

  /// Copies the points, in the order of a curve through the panel on which neighbours lie near each other (Morton
  /// 1966), those of one cell in their order. Returns the copies, valid until the next call.
  PointSources keep(const PointSources& all, const PointSummary& summary);

  /// Returns the points that light a pixel of the block, in their order; all of them without a band limit. Valid until
  /// the next call. Waits for the device. Cost: 12 bytes read for each point of the cloud, 40 moved for each that
  /// lights the block.
  PointSources select(const PointSources& all, const PanelBlock& block);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Points {
    Array<float, 1> position_m;
    Array<float, 1> amplitude;
    Array<float, 1> phase_rad;

    [[nodiscard]] std::size_t bytes() const { return position_m.bytes() + amplitude.bytes() + phase_rad.bytes(); }
  };
  /// Copies the points of these numbers.
  PointSources copy_to(Points& points, const PointSources& all, const int* index, int count);

  PointCloudOptions options_;
  Queue queue_;
  Array<int, 1> index_;  ///< of the points found, then their number
  Array<unsigned, 1> keys_;
  Array<std::byte, 1> scratch_;
  Points kept_;
  Points of_block_;
};

}  // namespace holotone::point_cloud
