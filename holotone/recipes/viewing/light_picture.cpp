#include <cmath>
#include <complex>
#include <holotone/recipes/viewing/light_picture.hpp>

namespace holotone {
namespace {

std::vector<View<const float, 2>> make_views(const LightPicture& picture) {
  std::vector<View<const float, 2>> views;
  for (const auto& channel : picture.channels) views.push_back(channel.view());
  return views;
}

}  // namespace

LightPicture on_host(const LightPicture& picture) {
  LightPicture copied;
  for (const auto& channel : picture.channels) copied.channels.push_back(channel.to(Device{}));
  return copied;
}

float white_level(std::span<const View<const float, 2>> pictures, WhiteRule rule, const Queue& queue) {
  return rule == WhiteRule::mean_and_deviation ? mean_plus_deviation(pictures) : default_reference(pictures, queue);
}

float white_level(const LightPicture& picture, WhiteRule rule) {
  if (rule == WhiteRule::mean_and_deviation && picture.queue.device() != Device{}) {
    return white_level(on_host(picture), rule);
  }
  return white_level(make_views(picture), rule, picture.queue);
}

LightExposure exposure_for(float largest) {
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  if (exponent >= -40 && exponent < 30) return {};
  const int shift = std::clamp(-exponent, -126, 126);
  return {std::ldexp(1.0F, shift), std::ldexp(1.0, -2 * shift)};
}

LightSize size_of(View<const Complex, 2> field) {
  const std::int64_t ny = field.shape()[0];
  const auto nx = static_cast<std::size_t>(field.shape()[1]);
  const auto values = field.host();
  std::vector<LightSize> rows(static_cast<std::size_t>(ny));
  parallel_for(0, ny, [&](std::int64_t y) {
    LightSize size;
    for (const Complex value : values.subspan(static_cast<std::size_t>(y) * nx, nx)) {
      size.energy += std::norm(std::complex<double>(value));
      size.largest = std::max({size.largest, std::abs(value.real()), std::abs(value.imag())});
    }
    rows[static_cast<std::size_t>(y)] = size;
  });
  LightSize size;
  for (const auto& row : rows) size = {size.energy + row.energy, std::max(size.largest, row.largest)};
  return size;
}

double common_unit(std::span<const double> factors) {
  const double most = factors.empty() ? 1 : *std::max_element(factors.begin(), factors.end());
  constexpr double held = 1e20;
  return (most >= 1 / held && most <= held) || most == 0 ? 1 : most;
}

Image toned(const LightPicture& picture, const ToneOptions& tone) {
  std::vector<Array<std::uint8_t, 2>> planes;
  for (const auto& channel : picture.channels) {
    auto codes = tone_map(channel.view(), tone, picture.queue);
    planes.push_back(codes.device() == Device{} ? std::move(codes) : codes.to(Device{}));
  }
  return {interleaved(planes), {}};
}

Image untoned(const LightPicture& picture) {
  if (picture.queue.device() != Device{}) return untoned(on_host(picture));
  return {interleaved(picture.channels), {}};
}

}  // namespace holotone
