#include <algorithm>
#include <cmath>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <holotone/optics/complex_product.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <numbers>

namespace holotone {

std::vector<Complex> shift_factors(std::int64_t length, double pixels) {
  std::vector<Complex> factors(static_cast<std::size_t>(length));
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t frequency = 2 * k <= length ? k : k - length;
    const double angle = 2 * std::numbers::pi * static_cast<double>(frequency) * pixels / static_cast<double>(length);
    factors[static_cast<std::size_t>(k)] = {static_cast<float>(std::cos(angle)),
                                            2 * frequency == length ? 0.0F : static_cast<float>(std::sin(angle))};
  }
  return factors;
}

namespace {

/// Samples of one axis of a picture, and the lines across which they repeat.
struct Axis {
  std::int64_t length;
  std::int64_t step;  ///< between samples
  std::int64_t lines;
  std::int64_t line_step;
};

/// Pictures moved by half a sample along an axis: with mirrored borders, as there is no edge where a line meets itself.
class HalfStep {
 public:
  explicit HalfStep(const Axis& axis)
      : axis_(axis),
        distance_(fft::gathered_distance(2 * axis.length)),
        forward_(2 * axis.length, pairs, distance_, FftDirection::forward),
        inverse_(2 * axis.length, pairs, distance_, FftDirection::inverse),
        factors_(shift_factors(2 * axis.length, 0.5)) {
    for (auto& factor : factors_) factor /= static_cast<float>(2 * axis.length);
  }

  void operator()(const float* source, float* target) const {
    ThreadMemory<Complex> memory;
    memory.reserve(pairs * distance_);
    parallel_for(0, (axis_.lines + 2 * pairs - 1) / (2 * pairs), [&](std::int64_t block) {
      Complex* const lines = memory.thread_block();
      const std::int64_t first = 2 * pairs * block;
      const std::int64_t count = std::min<std::int64_t>(2 * pairs, axis_.lines - first);
      gather(source + first * axis_.line_step, count, lines);
      forward_.execute(lines);
      for (std::int64_t pair = 0; pair < pairs; ++pair) {
        Complex* const line = lines + pair * distance_;
        for (std::int64_t k = 0; k < 2 * axis_.length; ++k)
          line[k] = product(line[k], factors_[static_cast<std::size_t>(k)]);
      }
      inverse_.execute(lines);
      scatter(lines, count, target + first * axis_.line_step);
    });
  }

 private:
  static constexpr std::int64_t pairs = 8;  ///< of lines at once: the real and the imaginary part of one

  void gather(const float* source, std::int64_t count, Complex* lines) const {
    for (std::int64_t i = 0; i < axis_.length; ++i) {
      const float* const from = source + i * axis_.step;
      const auto value = [&](std::int64_t line) { return line < count ? from[line * axis_.line_step] : 0.0F; };
      for (std::int64_t pair = 0; pair < pairs; ++pair) {
        Complex* const line = lines + pair * distance_;
        line[i] = line[2 * axis_.length - 1 - i] = {value(2 * pair), value(2 * pair + 1)};
      }
    }
  }

  void scatter(const Complex* lines, std::int64_t count, float* target) const {
    for (std::int64_t i = 0; i < axis_.length; ++i) {
      float* const to = target + i * axis_.step;
      for (std::int64_t line = 0; line < count; ++line) {
        const Complex value = lines[line / 2 * distance_ + i];
        to[line * axis_.line_step] = line % 2 == 0 ? value.real() : value.imag();
      }
    }
  }

  Axis axis_;
  std::int64_t distance_;
  fft::LinePlan<float> forward_;
  fft::LinePlan<float> inverse_;
  std::vector<Complex> factors_;
};

}  // namespace

std::array<Array<float, 2>, half_pixels.size()> at_half_pixels(View<const float, 2> picture) {
  constexpr std::string_view where = "at_half_pixels";
  if (picture.empty()) throw_argument(where, "picture", "a picture", "none");
  require_device(where, "picture", Device{}, picture.device());
  const auto [ny, nx] = picture.shape();
  const HalfStep right({nx, 1, ny, nx});
  const HalfStep down({ny, nx, nx, 1});
  std::array<Array<float, 2>, half_pixels.size()> pictures;
  for (auto& picture_part : pictures) picture_part = Array<float, 2>(picture.shape());
  std::copy_n(picture.data(), picture.size(), pictures[0].data());
  right(picture.data(), pictures[1].data());
  down(picture.data(), pictures[2].data());
  down(pictures[1].data(), pictures[3].data());
  for (auto* const picture_part : {&pictures[1], &pictures[2], &pictures[3]}) {
    parallel_blocks(picture_part->size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) picture_part->data()[i] = std::max(0.0F, picture_part->data()[i]);
    });
  }
  return pictures;
}

}  // namespace holotone
