#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/blur_disc.hpp>
#include <holotone/hologram/focal_stack.hpp>
#include <optional>
#include <span>

namespace holotone {
namespace {

constexpr const char* where = "focal_stack";

void require_seen(const char* function, const std::string& argument, double distance_m, double viewer_m) {
  if (std::isfinite(distance_m) && viewer_m + distance_m > 0) return;
  throw_argument(function, argument, fmt::format("a distance > {} m, in front of the viewer", -viewer_m),
                 fmt::format("{}", distance_m));
}

void require_viewer(const char* function, const FocalStackOptions& options) {
  require_positive(function, "pupil_m", options.pupil_m);
  require_positive(function, "viewer_m", options.viewer_m);
}

constexpr std::int64_t max_pixels = std::int64_t{1} << 32;  ///< LayerPixels numbers them by 32 bits

void require_pixels(const SlicedPicture& picture) {
  if (picture.layer.size() > max_pixels) {
    throw_argument(where, "picture", fmt::format("at most {} pixels", max_pixels), to_string(picture.layer.shape()));
  }
  const std::int64_t nx = picture.layer.shape()[1];
  const std::size_t layers = picture.distance_m.size();
  for (std::int64_t i = 0; i < picture.layer.size(); ++i) {
    const float light = picture.intensity.data()[i];
    const std::uint16_t layer = picture.layer.data()[i];
    if (!std::isfinite(light) || light < 0) {
      throw_argument(where, fmt::format("picture.intensity: row {}, column {}", i / nx, i % nx), "a finite number >= 0",
                     fmt::format("{}", light));
    }
    if (layer != SlicedPicture::nothing && layer >= layers) {
      throw_argument(where, fmt::format("picture.layer: row {}, column {}", i / nx, i % nx),
                     fmt::format("less than the number of layers, {}", layers), fmt::format("{}", layer));
    }
  }
}

void require_arguments(const SlicedPicture& picture, const FieldGrid& grid, const FocalStackOptions& options) {
  require_grid(where, grid);
  require_viewer(where, options);
  if (options.focus_m.empty()) throw_argument(where, "focus_m", "at least one plane", "none");
  for (std::size_t i = 0; i < options.focus_m.size(); ++i) {
    require_seen(where, fmt::format("focus_m[{}]", i), options.focus_m[i], options.viewer_m);
  }
  require_view(where, "picture.intensity", picture.intensity.view(), grid.shape(), Device{});
  require_view(where, "picture.layer", picture.layer.view(), grid.shape(), Device{});
  const auto& distances = picture.distance_m;
  if (distances.empty()) throw_argument(where, "picture.distance_m", "at least one layer", "none");
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const std::string name = fmt::format("picture.distance_m[{}]", i);
    require_seen(where, name, distances[i], options.viewer_m);
    if (i > 0 && distances[i] > distances[i - 1]) {
      throw_argument(where, name, fmt::format("at most the one before, {}", distances[i - 1]),
                     fmt::format("{}", distances[i]));
    }
  }
  require_pixels(picture);
}

/// The pixels of each layer, in the order of rows.
class LayerPixels {
 public:
  explicit LayerPixels(const SlicedPicture& picture) : first_(picture.distance_m.size() + 1) {
    const auto layers = picture.layer.host();
    const auto each = [&](const auto& body) {
      for (std::size_t i = 0; i < layers.size(); ++i) {
        if (layers[i] != SlicedPicture::nothing) body(layers[i], static_cast<std::uint32_t>(i));
      }
    };
    each([&](std::size_t layer, std::uint32_t) { ++first_[layer + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    pixels_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    each([&](std::size_t layer, std::uint32_t pixel) { pixels_[next[layer]++] = pixel; });
  }

  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t layer) const {
    return std::span(pixels_).subspan(first_[layer], first_[layer + 1] - first_[layer]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> pixels_;  // at most max_pixels
};

Shape<2> padded_shape(const Shape<2>& shape, const Shape<2>& reach) {
  return {fft_friendly_size(shape[0] + reach[0]), fft_friendly_size(shape[1] + reach[1])};
}

/// Three transforms take as long as about twenty multiply-adds a sample and factor of two.
bool fft_is_faster(std::size_t pixels, const Shape<2>& reach, const Shape<2>& shape) {
  const auto samples = static_cast<double>(element_count<2>(padded_shape(shape, reach)));
  const auto disc = static_cast<double>((2 * reach[0] + 1) * (2 * reach[1] + 1));
  return static_cast<double>(pixels) * disc > 20 * samples * std::log2(samples);
}

/// Light and coverage of one plane in focus, composited from far to near.
class Composite {
 public:
  Composite(const SlicedPicture& picture, Array<float, 2>& light)
      : picture_(picture), light_(light), coverage_(light.shape()) {
    std::fill_n(light_.data(), light_.size(), 0.0F);
    std::transform(picture.layer.host().begin(), picture.layer.host().end(), coverage_.data(),
                   [](std::uint16_t layer) { return layer == SlicedPicture::nothing ? 1.0F : 0.0F; });
  }

  void add(std::int64_t pixel, float light, float mask) {
    float& sum = light_.data()[pixel];
    float& coverage = coverage_.data()[pixel];
    sum = (1 - mask) * sum + light;
    coverage = (1 - mask) * coverage + mask;
  }

  void divide() {
    for (std::int64_t i = 0; i < light_.size(); ++i) {
      const float coverage = coverage_.data()[i];
      if (picture_.layer.data()[i] != SlicedPicture::nothing && coverage > 0) light_.data()[i] /= coverage;
    }
  }

  [[nodiscard]] const SlicedPicture& picture() const { return picture_; }

 private:
  const SlicedPicture& picture_;
  Array<float, 2>& light_;
  Array<float, 2> coverage_;
};

/// Adds a blurred layer: each row gathers the discs of the rows within reach.
void add_direct(Composite& composite, std::span<const std::uint32_t> pixels, const BlurDisc& disc) {
  const auto [ny, nx] = composite.picture().intensity.shape();
  const float* const intensity = composite.picture().intensity.data();
  const auto [down, across] = disc.reach;
  const auto row_begin = [&, width = nx](std::int64_t row) {
    return std::lower_bound(pixels.begin(), pixels.end(), std::max<std::int64_t>(row, 0) * width,
                            [](std::uint32_t pixel, std::int64_t bound) { return pixel < bound; });
  };
  const std::int64_t first = std::max<std::int64_t>(pixels.front() / nx - down, 0);
  const std::int64_t last = std::min<std::int64_t>(pixels.back() / nx + down, ny - 1);
  parallel_for(first, last + 1, [&, width = nx, below = down, beside = across](std::int64_t row) {
    const auto begin = row_begin(row - below);
    const auto end = row_begin(row + below + 1);
    if (begin == end) return;
    // float64, so that full coverage comes out as 1
    std::vector<double> light(static_cast<std::size_t>(width));
    std::vector<double> mask(static_cast<std::size_t>(width));
    for (auto pixel = begin; pixel != end; ++pixel) {
      const std::int64_t column = *pixel % width;
      const float* const weight = &disc.weight(row - *pixel / width + below, 0);
      const double value = static_cast<double>(intensity[*pixel]);
      const std::int64_t stop = std::min(column + beside + 1, width);
      for (std::int64_t x = std::max<std::int64_t>(column - beside, 0); x < stop; ++x) {
        const auto share = static_cast<double>(weight[x - column + beside]);
        light[static_cast<std::size_t>(x)] += share * value;
        mask[static_cast<std::size_t>(x)] += share;
      }
    }
    for (std::int64_t x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(x);
      if (mask[at] > 0) {
        composite.add(row * width + x, static_cast<float>(light[at]), static_cast<float>(std::min(mask[at], 1.0)));
      }
    }
  });
}

/// The same by FFTs on an array with a border of zeros. Light is the real part and mask the imaginary part: a
/// symmetric disc keeps them apart.
class FourierBlur {
 public:
  FourierBlur(const Shape<2>& shape, const Shape<2>& reach)
      : fft_(padded_shape(shape, reach)), layer_(fft_.shape()), disc_(fft_.shape()) {}

  void add(Composite& composite, std::span<const std::uint32_t> pixels, const BlurDisc& disc) {
    const auto [ny, nx] = composite.picture().intensity.shape();
    const float* const intensity = composite.picture().intensity.data();
    float largest = 0;  // of the layer, so that its bright pixels do not drown the mask
    for (const auto pixel : pixels) largest = std::max(largest, intensity[pixel]);
    if (largest == 0) largest = 1;
    std::fill_n(layer_.data(), layer_.size(), std::complex<float>{});
    for (const auto pixel : pixels) layer_(pixel / nx, pixel % nx) = {intensity[pixel] / largest, 1};
    filter(disc);
    parallel_for(0, ny, [&, width = nx](std::int64_t row) {
      for (std::int64_t x = 0; x < width; ++x) {
        const auto value = layer_(row, x);
        if (value.imag() < rounding) continue;
        const float light = value.real() < rounding ? 0 : value.real() * largest;
        composite.add(row * width + x, light, std::min(value.imag(), 1.0F));
      }
    });
  }

 private:
  /// Less than this share of a mask or of a layer's brightest pixel is the transforms' error.
  static constexpr float rounding = 1e-6F;

  void filter(const BlurDisc& disc) {
    const auto [py, px] = fft_.shape();
    std::fill_n(disc_.data(), disc_.size(), std::complex<float>{});
    for (std::int64_t y = -disc.reach[0]; y <= disc.reach[0]; ++y) {
      for (std::int64_t x = -disc.reach[1]; x <= disc.reach[1]; ++x) {
        disc_((y + py) % py, (x + px) % px) = disc.weight(y + disc.reach[0], x + disc.reach[1]);
      }
    }
    fft_.execute(disc_.view(), FftDirection::forward);
    fft_.execute(layer_.view(), FftDirection::forward);
    for (std::int64_t i = 0; i < layer_.size(); ++i) layer_.data()[i] *= disc_.data()[i].real();
    fft_.execute(layer_.view(), FftDirection::inverse);
  }

  FftPlan fft_;
  Array<std::complex<float>, 2> layer_;
  Array<std::complex<float>, 2> disc_;
};

/// Blurs layers by the faster way. The array of the FFTs holds the largest disc that needs it.
class Blur {
 public:
  Blur(const LayerPixels& pixels, const SlicedPicture& picture, const FieldGrid& grid, const FocalStackOptions& options)
      : pixels_(pixels), shape_(grid.shape()), max_reach_{grid.ny - 1, grid.nx - 1} {
    for (const double focus : options.focus_m) {
      for (std::size_t i = 0; i < picture.distance_m.size(); ++i) {
        const double diameter = blur_diameter_m(options, picture.distance_m[i], focus) / grid.pitch_m;
        const auto reach = disc_reach(diameter, max_reach_);
        if (!fft_is_faster(pixels.of(i).size(), reach, shape_)) continue;
        for (std::size_t axis = 0; axis < 2; ++axis) reach_[axis] = std::max(reach_[axis], reach[axis]);
      }
    }
  }

  void add(Composite& composite, std::size_t layer, double diameter_px) {
    const auto pixels = pixels_.of(layer);
    if (pixels.empty()) return;
    const BlurDisc disc = blur_disc(diameter_px, max_reach_);
    if (!fft_is_faster(pixels.size(), disc.reach, shape_)) {
      add_direct(composite, pixels, disc);
      return;
    }
    if (!fourier_) fourier_.emplace(shape_, reach_);
    fourier_->add(composite, pixels, disc);
  }

 private:
  const LayerPixels& pixels_;
  Shape<2> shape_;
  Shape<2> max_reach_;
  Shape<2> reach_{};
  std::optional<FourierBlur> fourier_;
};

}  // namespace

double blur_diameter_m(const FocalStackOptions& options, double distance_m, double focus_m) {
  constexpr const char* function = "blur_diameter_m";
  require_viewer(function, options);
  require_seen(function, "distance_m", distance_m, options.viewer_m);
  require_seen(function, "focus_m", focus_m, options.viewer_m);
  return options.pupil_m * std::abs(distance_m - focus_m) / (options.viewer_m + distance_m);
}

std::vector<Array<float, 2>> focal_stack(const SlicedPicture& picture, const FieldGrid& grid,
                                         const FocalStackOptions& options, Progress& progress) {
  require_arguments(picture, grid, options);
  const LayerPixels pixels(picture);
  Blur blur(pixels, picture, grid, options);
  const auto layers = static_cast<std::int64_t>(picture.distance_m.size());
  const auto total = layers * static_cast<std::int64_t>(options.focus_m.size());
  std::int64_t done = 0;
  std::vector<Array<float, 2>> stack;
  for (const double focus : options.focus_m) {
    Composite composite(picture, stack.emplace_back(grid.shape()));
    for (std::size_t layer = 0; layer < picture.distance_m.size(); ++layer) {
      progress.step("blurring layers", done++, total);
      blur.add(composite, layer, blur_diameter_m(options, picture.distance_m[layer], focus) / grid.pitch_m);
    }
    composite.divide();
  }
  return stack;
}

}  // namespace holotone
