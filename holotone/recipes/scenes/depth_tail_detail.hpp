#pragma once
// Values of a depth map that leave no layers to the rest of the picture. Not for users.
#include <array>
#include <functional>
#include <holotone/hologram/layers.hpp>
#include <optional>
#include <span>

namespace holotone {

/// Background, or a code for it, that squeezes the other depths into one layer.
struct DepthTail {
  double share = 0;                ///< of the pixels with a depth
  std::array<double, 2> values{};  ///< least and largest of the tail, as the file has them
  std::array<double, 2> rest{};    ///< of the other pixels
  std::array<double, 2> keys{};    ///< least and largest value of find_depth_tail in the tail
};

/// Finds a tail among `depths` (NaN: none), the distances offset_m + scale times these. With u = distance or, for
/// inverse spacing, -1 / distance, from u0 to u1: the other depths, of two values or more, are all within
/// (u1 - u0) / layers (at least 16 layers) of the nearest and more than half of the picture, or of the nearest or the
/// farthest and the tail has one value. `values`: the file's, in the same order. None if there is no tail. Cost O(n).
std::optional<DepthTail> find_depth_tail(std::span<const float> depths, std::span<const float> values, double offset_m,
                                         double scale, LayerSpacing spacing, int layers);

/// The pixels that are farther than `max_m`, as a tail.
std::optional<DepthTail> find_depths_beyond(std::span<const float> depths, std::span<const float> values,
                                            double offset_m, double scale, double max_m);

}  // namespace holotone
