#pragma once
#include <array>
#include <cli/common/hologram_overrides.hpp>
#include <cstdint>
#include <holotone/bands/bands_run.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <string>

namespace holotone::cli {

/// Record of one written hologram.
struct PointsRecord {
  std::string input;
  std::string output;
  std::int64_t frame = 0;
  std::size_t channel = 0;
  std::int64_t points = 0;
  std::int64_t dropped = 0;
  std::int64_t hidden = 0;
  std::int64_t triangles = 0;  ///< see ScenePoints::triangles
  std::string ignored;         ///< see ScenePoints::ignored
  std::string phase_note;      ///< see ScenePoints::phase_note
  std::string dark;            ///< reason for no light; empty: it has light
  PointCloudInfo info;
  double fresnel_deviation_rad = 0;
  double compute_s = 0;
  std::string remedy;                ///< see remedy_of
  std::int64_t unlit = 0;            ///< points that light no pixel
  std::array<double, 2> extent_m{};  ///< the object's width and height
  double distance_m = 0;             ///< smaller |distance| of front and back, where the lit zone is narrower
  Flags reconstruct_flags;           ///< for metadata that the file does not store
  std::int64_t bands = 0;            ///< number of bands of the sum; 0: all at once
  std::int64_t resumed = 0;          ///< rows that an earlier run had made
  BandRates rates;                   ///< of bands
};

}  // namespace holotone::cli
