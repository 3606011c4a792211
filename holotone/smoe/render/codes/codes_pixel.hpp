#pragma once
// Conversion of one pixel's colours to code values, on every device. Not for users.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/smoe/codes.hpp>
#include <limits>

namespace holotone::smoe {

/// Code values of a pixel, as smoe_codes writes them.
template <class Code>
struct CodePixel {
  int channels;  ///< channels of colours
  int made;      ///< channels of codes
  bool linear;
  double levels;
  double spread;  ///< largest code over levels

  CodePixel(std::int64_t colour_channels, std::int64_t code_channels, const SmoeCodes& options)
      : channels(static_cast<int>(colour_channels)),
        made(static_cast<int>(code_channels)),
        linear(options.linear),
        levels(std::ldexp(1.0, options.bits) - 1),
        spread(options.whole_range ? static_cast<double>(std::numeric_limits<Code>::max()) / levels : 1) {}

  HOLOTONE_HOST_DEVICE void operator()(const float* colours, Code* codes) const {
    const bool alpha = channels == 2 || channels == 4;
    for (int c = 0; c < made; ++c) {
      if (channels == made) {
        codes[c] = to_code(colours[c], linear && !(alpha && c == channels - 1));
      } else if (c == 3) {
        codes[c] = alpha ? to_code(colours[channels - 1], false) : to_code(1, false);
      } else {
        codes[c] = to_code(colours[channels < 3 ? 0 : c], linear);
      }
    }
  }

 private:
  HOLOTONE_HOST_DEVICE Code to_code(float colour, bool light) const {
    auto value = static_cast<double>(colour);
    value = value > 0 ? (value < 1 ? value : 1) : 0;
    if (light) value = value <= 0.0031308 ? value * 12.92 : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
    return static_cast<Code>(std::floor(std::floor(value * levels + 0.5) * spread + 0.5));
  }
};

/// Converts `pixels` pixels on the queue's device.
template <class Code>
void code_pixels_cuda(const CodePixel<Code>& code, const float* colours, Code* codes, std::int64_t pixels,
                      const Queue& queue);
template <class Code>
void code_pixels_opencl(const CodePixel<Code>& code, const float* colours, Code* codes, std::int64_t pixels,
                        const Queue& queue);

}  // namespace holotone::smoe
