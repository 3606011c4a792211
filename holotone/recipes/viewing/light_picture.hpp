#pragma once
// Not for users. Pictures of linear light, and their exposure to the range of float32.
#include <algorithm>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/tone.hpp>
#include <holotone/recipes/viewing.hpp>
#include <span>
#include <vector>

namespace holotone {

/// Intensities in linear light, shape {ny, nx}: one channel, or red, green and blue. In host memory, or on CUDA as long
/// as their codes alone are wanted.
struct LightPicture {
  std::vector<Array<float, 2>> channels;
  Queue queue{};  ///< of the channels
};

/// The picture in host memory.
LightPicture on_host(const LightPicture& picture);

/// Intensity shown as white under a rule. Only percentiles can be of pictures on CUDA.
float white_level(std::span<const View<const float, 2>> pictures, WhiteRule rule, const Queue& queue = {});
float white_level(const LightPicture& picture, WhiteRule rule);

/// 8-bit pixels under the tone curve stated in docs/commands_codes.md.
Image toned(const LightPicture& picture, const ToneOptions& tone);

/// Intensities as float32 pixels, without a tone curve.
Image untoned(const LightPicture& picture);

/// Pixels {ny, nx, n} from n planes of the same shape.
template <class T>
Array<T, 3> interleaved(const std::vector<Array<T, 2>>& planes) {
  const auto shape = planes.front().shape();
  const auto count = std::ssize(planes);
  Array<T, 3> pixels({shape[0], shape[1], count});
  if (count == 1) {
    parallel_blocks(shape[0] * shape[1], [&](std::int64_t begin, std::int64_t end) {
      std::copy(planes.front().data() + begin, planes.front().data() + end, pixels.data() + begin);
    });
    return pixels;
  }
  parallel_blocks(shape[0] * shape[1], [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = 0; c < count; ++c) {
      const T* const plane = planes[static_cast<std::size_t>(c)].data();
      for (std::int64_t i = begin; i < end; ++i) pixels.data()[i * count + c] = plane[i];
    }
  });
  return pixels;
}

/// Scale factor for fields whose squares exceed the range of float32: a power of two. Intensities are then in units of
/// `unit`.
struct LightExposure {
  float gain = 1;   ///< of the field
  double unit = 1;  ///< 1 / gain^2
};

/// For a field whose largest real or imaginary part is `largest`: gain 1 from 2^-40 to 2^30 and for 0.
LightExposure exposure_for(float largest);

/// Sum of squared moduli, and maximum absolute value of real and imaginary parts.
struct LightSize {
  double energy = 0;
  float largest = 0;
};
LightSize size_of(View<const Complex, 2> field);

/// Intensity unit of a picture whose channels are multiplied by `factors`: 1 if float32 holds the products, else the
/// largest factor.
double common_unit(std::span<const double> factors);

}  // namespace holotone
