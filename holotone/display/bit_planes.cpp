#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/display/bit_planes.hpp>

namespace holotone {

Array<std::uint8_t, 3> pack_bit_planes(std::span<const View<const std::uint8_t, 2>> frames, std::string_view order) {
  constexpr std::string_view channels = "rgb";
  if (frames.empty() || frames.size() > 24) {
    throw_argument("pack_bit_planes", "frames", "1 to 24", fmt::format("{}", frames.size()));
  }
  if (!std::is_permutation(order.begin(), order.end(), channels.begin(), channels.end())) {
    throw_argument("pack_bit_planes", "order", "the letters rgb in any order", fmt::format("'{}'", order));
  }
  const Shape<2> shape = frames[0].shape();
  for (const auto& frame : frames) require_view("pack_bit_planes", "frames", frame, shape, Device{});
  Array<std::uint8_t, 3> packed({shape[0], shape[1], 3});
  parallel_for(0, shape[0], [&](std::int64_t y) {
    std::uint8_t* const row = packed.data() + y * shape[1] * 3;
    std::fill_n(row, shape[1] * 3, std::uint8_t{0});
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto channel = static_cast<std::int64_t>(channels.find(order[i / 8]));
      const std::uint8_t* const from = frames[i].data() + y * shape[1];
      for (std::int64_t x = 0; x < shape[1]; ++x) {
        row[3 * x + channel] = static_cast<std::uint8_t>(row[3 * x + channel] | (from[x] != 0 ? 1U << (i % 8) : 0U));
      }
    }
  });
  return packed;
}

}  // namespace holotone
