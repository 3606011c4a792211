#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/hologram/depth_map.hpp>
#include <limits>
#include <vector>

namespace holotone {
namespace {

/// Fills the runs of NaN in a row; returns false for a row without a value.
bool fill_row(float* row, std::int64_t nx) {
  std::int64_t last = -1;  // last pixel with a value
  for (std::int64_t x = 0; x <= nx; ++x) {
    if (x < nx && std::isnan(row[x])) continue;
    if (x == nx && last < 0) return false;
    const float left = last >= 0 ? row[last] : row[x];
    const float right = x < nx ? row[x] : left;
    std::fill(row + last + 1, row + x, std::max(left, right));
    last = x;
  }
  return true;
}

}  // namespace

void depth_of_disparity(View<float, 2> values, const StereoCamera& camera) {
  constexpr const char* where = "depth_of_disparity";
  require_positive(where, "focal_px", camera.focal_px);
  require_positive(where, "baseline_m", camera.baseline_m);
  if (!std::isfinite(camera.offset_px)) {
    throw_argument(where, "offset_px", "a finite number", fmt::format("{}", camera.offset_px));
  }
  for (float& value : values.host()) {
    const double disparity = static_cast<double>(value);
    const double shift = disparity + camera.offset_px;
    const bool known = std::isfinite(disparity) && disparity != 0 && shift > 0;
    value = known ? static_cast<float>(camera.baseline_m * camera.focal_px / shift)
                  : std::numeric_limits<float>::quiet_NaN();
  }
}

std::int64_t fill_depth_holes(View<float, 2> depth, bool zero_is_hole) {
  std::int64_t holes = 0;
  for (float& value : depth.host()) {
    if (std::isfinite(value) && !(zero_is_hole && value == 0)) continue;
    value = std::numeric_limits<float>::quiet_NaN();
    ++holes;
  }
  if (holes == depth.size()) {
    throw_argument("fill_depth_holes", "depth", "at least one pixel with a depth",
                   fmt::format("none of {}", depth.size()));
  }
  if (holes == 0) return 0;
  const auto [ny, nx] = depth.shape();
  std::vector<std::int64_t> filled;
  for (std::int64_t y = 0; y < ny; ++y) {
    if (fill_row(depth.data() + y * nx, nx)) filled.push_back(y);
  }
  for (std::int64_t y = 0; y < ny; ++y) {
    const auto below = std::lower_bound(filled.begin(), filled.end(), y);
    if (below != filled.end() && *below == y) continue;
    const float* const lower = depth.data() + (below != filled.end() ? *below : filled.back()) * nx;
    const float* const upper = depth.data() + (below != filled.begin() ? *(below - 1) : filled.front()) * nx;
    for (std::int64_t x = 0; x < nx; ++x) depth(y, x) = std::max(upper[x], lower[x]);
  }
  return holes;
}

}  // namespace holotone
