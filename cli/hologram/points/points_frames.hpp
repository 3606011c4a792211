#pragma once
#include <array>
#include <cli/common/paths.hpp>
#include <cli/hologram/common/hologram_maker.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace holotone::cli {

/// What one written hologram was.
struct HologramRow {
  std::string input;
  std::string output;
  std::int64_t frame = 0;
  std::size_t channel = 0;
  std::int64_t points = 0;
  std::int64_t dropped = 0;
  std::int64_t hidden = 0;
  std::string dark;  ///< why it holds no light; empty: it does
  PointCloudInfo info;
  double fresnel_deviation_rad = 0;
  double compute_s = 0;
  std::string remedy;                ///< see remedy_of
  std::int64_t unlit = 0;            ///< points that light no pixel
  std::array<double, 2> extent_m{};  ///< the object's width and height
  double distance_m = 0;             ///< of its nearest point, where the panel lights least
  Flags reconstruct_flags;           ///< what the file cannot say of itself
  std::int64_t bands = 0;            ///< it was summed in; 0: at once
  std::int64_t resumed = 0;          ///< rows that an earlier run had made
};

/// Takes rows without what only the sum can tell.
using BeforeSum = std::function<void(const std::vector<HologramRow>&)>;

HologramRow row_of(const PreparedFrame& frame, std::size_t channel, const MadeHologram& made);

/// Where frames come from and go to: one file, numbered files, or one turning object.
class FrameSource {
 public:
  /// Checks every name before anything is read. Throws io or invalid_argument.
  explicit FrameSource(const HologramJob& job);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] bool moving() const { return output_pattern_.has_value(); }
  [[nodiscard]] std::string output(std::int64_t number, const Channel& channel) const;
  [[nodiscard]] Frame frame(std::int64_t index) const;
  /// Reads (a turning object only once) and prepares a frame.
  [[nodiscard]] PreparedFrame prepare(std::int64_t index);

 private:
  const HologramJob& job_;
  std::optional<FramePattern> output_pattern_;
  std::vector<Frame> frames_;  ///< of numbered files
  std::int64_t count_ = 1;
  std::optional<PlacedScene> turning_;
};

/// Of each channel, without what only the sum can tell.
std::vector<HologramRow> rows_before_sum(const HologramJob& job, const FrameSource& source, const PreparedFrame& frame);

/// Reads, computes and writes every frame, at once where there are several. A run that fails or is cancelled leaves no
/// new file. The rows are in the order of frames, then channels.
/// `before`, for one frame only: called with what is known of its holograms before they are computed.
std::vector<HologramRow> make_holograms(const HologramJob& job, FrameSource& source, const BeforeSum& before);

}  // namespace holotone::cli
