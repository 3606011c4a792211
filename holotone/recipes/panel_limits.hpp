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

}  // namespace holotone
