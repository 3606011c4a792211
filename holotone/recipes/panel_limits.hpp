#pragma once
#include <array>
#include <cstdint>
#include <holotone/hologram/encode.hpp>
#include <holotone/optics/field.hpp>
#include <optional>
#include <vector>

// What a panel's pixels allow a scene.
namespace holotone {

/// Side N of the hogels that suit a scene whose nearest point lies at `nearest_m`: the largest power of two from 16 to
/// 1024 with N <= lambda d / (4 pitch^2) and four hogels across the panel; at least 16. Then the curvature of that
/// point changes a ray's frequency at a hogel's edge by at most 1 / (8 pitch), a quarter of the largest that the pitch
/// shows, and few of the widest angles are omitted. `grid`: of the panel, with the shortest wavelength.
std::int64_t suited_hogel_px(const FieldGrid& grid, double nearest_m);

/// Tint of white that layers of random phase show, because the panel cuts off more of the light of long waves, which
/// spreads farther: contrast (max - min) / (max + min) of the ratio of the longest to the shortest wavelength's light
/// on the panel, over a picture of `size_m` {x, y} at a distance. 0: none. `grid`: of the panel; its wavelength is not
/// used. docs/holograms.md, Colours.
double white_tint(const FieldGrid& grid, const std::vector<double>& wavelengths_m, const std::array<double, 2>& size_m,
                  double distance_m);

/// Distance from which on an object of `extent_m` {x, y} is shown undisturbed by an encoding that holds fewer
/// frequencies than the panel: none finer than 6 pixels in x (burckhardt), or than 4 (double_phase, which shows ghosts
/// of nearer objects). None for the other encodings. docs/encoding.md.
std::optional<double> nearest_undisturbed_m(const FieldGrid& grid, Encoding encoding,
                                            const std::array<double, 2>& extent_m);

/// How a panel's pixels show in a plane in free space: whether a phase can make a picture of them there.
struct PlaneSharpness {
  double spread_px = 0;  ///< over which the light of a pixel spreads
  double detail_px = 0;  ///< the finest detail: half a period of the finest fringes that the whole panel makes there
  bool is_too_near = false;  ///< a spread below 4 pixels: a phase cannot become a picture
  bool is_too_far = false;   ///< a finest detail above 16 pixels, if not too near
};

/// With lambda and pitch of the panel's grid, d = |distance_m| and side its shorter side: spread = lambda d / pitch^2,
/// detail = lambda d / (2 side pitch).
PlaneSharpness find_plane_sharpness(const FieldGrid& grid, double distance_m);

}  // namespace holotone
