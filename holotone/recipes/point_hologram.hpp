#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/geometry.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/optics/row_range.hpp>
#include <memory>
#include <optional>
#include <vector>

// Holograms of points: the sum of their waves as a field or as codes, and what their files state.
namespace holotone {

/// The points of a cloud as sources: with their amplitudes, or those of one colour (channel_amplitude). Refers to the
/// cloud, which must outlive it.
class CloudSources {
 public:
  /// `colour`: 0 red, 1 green, 2 blue; -1: the amplitudes themselves.
  explicit CloudSources(const PointCloud& cloud, int colour = -1);
  [[nodiscard]] PointSources sources() const;

 private:
  const PointCloud& cloud_;
  int colour_;
  std::vector<float> amplitude_;  ///< of a colour
};

struct PointHologramOptions {
  PointCloudOptions sum = {};                  ///< also the panel and the light of the codes
  std::optional<EncodeOptions> encoding = {};  ///< of the codes; none: the complex field
  std::int64_t rows_at_once = 0;               ///< maximum rows of a part, 1 to ny; 0: the whole panel
};

/// Hologram of a point cloud: the sum of PointCloudPlan and the codes of EncodePlan, some rows of the panel at a time.
/// Codes of a panel in parts have one range: that of `encoding`, or the largest that `measure` finds in any part, given
/// to set_range. 8-bit phase codes of the full circle are written by the sum itself, without a field. Memory: that of
/// the sum, and for other codes a field {rows_at_once, nx}. Cost: that of the sum.
class PointHologramPlan {
 public:
  /// Throws as PointCloudPlan and EncodePlan.
  explicit PointHologramPlan(const PointHologramOptions& options, Queue queue = {});
  ~PointHologramPlan();
  PointHologramPlan(PointHologramPlan&&) noexcept;
  PointHologramPlan& operator=(PointHologramPlan&&) noexcept;

  /// As PointCloudPlan::set_points.
  void set_points(const PointSources& points);

  /// Returns the range of the codes of some rows by themselves (EncodePlan::measure); sums them, and waits.
  [[nodiscard]] EncodeReport measure(const RowRange& part, Progress& progress = Progress::none());
  /// Sets the range of all codes from here on.
  void set_range(const EncodeReport& range);

  /// Sums some rows, to {part.rows, nx} on the plan's device: the field of a plan without an encoding, or codes, of up
  /// to 8 bits as uint8. CUDA, OpenCL: enqueues, as PointCloudPlan::execute does. Throws as both plans, and
  /// invalid_argument for a field of a plan with an encoding and for codes of one without.
  void execute(const RowRange& part, View<Complex, 2> field, Progress& progress = Progress::none());
  void execute(const RowRange& part, View<std::uint8_t, 2> codes, Progress& progress = Progress::none());
  void execute(const RowRange& part, View<std::uint16_t, 2> codes, Progress& progress = Progress::none());

  /// Returns the range of the codes (EncodePlan::report).
  [[nodiscard]] EncodeReport report() const;
  [[nodiscard]] PointCloudInfo info() const;
  [[nodiscard]] const Queue& queue() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if the sum itself writes these codes: PointCloudOutput's 8-bit phase.
bool is_sum_phase(const EncodeOptions& encoding);

/// Adds what the file of a point hologram states of its sum: pitch_m, wavelength_m, points, distance_m (the middle) and
/// its range, object_energy, method, arithmetic, tolerance, wave, band_limit, fresnel_deviation_rad. Keys that
/// `metadata` has are kept and not computed. `points`: in host memory. `of_colours`: the hologram is one of several
/// colours, which are balanced by the light that each has on the panel (lit_energy); otherwise object_energy is the sum
/// of squared amplitudes. Cost: O(n).
void describe_points(Metadata& metadata, const PointSources& points, const PointCloudOptions& sum,
                     const PointCloudInfo& info, bool of_colours = false);

}  // namespace holotone
