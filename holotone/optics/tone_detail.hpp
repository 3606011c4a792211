#pragma once
// Tones on the GPU. Not for users.
#include <array>
#include <holotone/core/array.hpp>
#include <span>
#include <vector>

namespace holotone::tone {

/// Codes of intensities by comparisons.
struct Table {
  std::array<float, 255> least{};     ///< least intensity of code i + 1
  std::vector<std::uint8_t> guesses;  ///< code of the lowest float with these upper 16 bits
};

/// As percentile, of images on the queue's device.
float percentile_cuda(std::span<const View<const float, 2>> images, double fraction, const Queue& queue);

/// Codes of `intensity`, both on the queue's device.
void codes_cuda(View<const float, 2> intensity, const Table& table, View<std::uint8_t, 2> codes, const Queue& queue);

/// Rank, from 0, of the quantile among `count` elements.
std::int64_t rank_of(double fraction, std::int64_t count);

[[noreturn]] void reject_no_pixel();

}  // namespace holotone::tone
