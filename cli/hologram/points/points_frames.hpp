#pragma once
#include <cli/common/paths.hpp>
#include <cli/hologram/points/points_maker.hpp>
#include <cli/hologram/points/points_record.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holotone::cli {

/// Receives the rows of a frame before the sum, without its results.
using BeforeSum = std::function<void(const std::vector<PointsRecord>&)>;

/// The job's wave; of several colours, for all the one that `auto` is for the shortest wavelength, and of frames the
/// exact one if `auto` takes it for the first.
Wave wave_of_run(const HologramJob& job, const PreparedFrame& first);

/// The makers of all channels.
using Makers = std::vector<std::unique_ptr<PointsMaker>>;
Makers makers_of(const HologramJob& job, const PreparedFrame& first);

PointsRecord make_row(const PreparedFrame& frame, std::size_t channel, const PointsHologram& made);

/// Source and output names of the frames: one file, numbered files, or one turning object.
class FrameSource {
 public:
  /// Checks every name before anything is read. Throws io or invalid_argument.
  explicit FrameSource(const HologramJob& job);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] bool moving() const { return moving_; }
  [[nodiscard]] std::string output(std::int64_t number, const Channel& channel) const;
  [[nodiscard]] Frame frame(std::int64_t index) const;
  /// Reads (a turning object only once) and prepares a frame. After the first frame any thread may call it.
  [[nodiscard]] PreparedFrame prepare(std::int64_t index);

 private:
  const HologramJob& job_;
  std::optional<FramePattern> output_pattern_;
  std::vector<Frame> frames_;  ///< of numbered files
  std::int64_t count_ = 1;
  bool moving_ = false;
  std::optional<PlacedScene> turning_;
};

/// Rows of all channels without the results of the sum.
std::vector<PointsRecord> rows_before_sum(const HologramJob& job, const FrameSource& source,
                                          const PreparedFrame& frame);

}  // namespace holotone::cli
