#include <algorithm>
#include <bench/lagrange_figure.hpp>
#include <bench/paper_table.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/images/image.hpp>
#include <holotone/metrics/similarity.hpp>
#include <holotone/optics/contact_sheet.hpp>
#include <holotone/optics/eye.hpp>
#include <numbers>

namespace bench {

using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::View;

namespace {

constexpr double focus_m = 9.1e-2;
constexpr double width_m = 18.4e-3;
constexpr std::int64_t rows_at_once = 2048;

double compute_sum(const Array<float, 2>& values) {
  double sum = 0;
  for (const float value : values.host()) sum += static_cast<double>(value);
  return sum;
}

/// Divides the picture by the sum of its mean and standard deviation (the paper's 4.3).
void normalise(Array<float, 2>& picture) {
  const double mean = compute_sum(picture) / static_cast<double>(picture.size());
  double squares = 0;
  for (const float value : picture.host()) squares += std::pow(static_cast<double>(value) - mean, 2);
  const double white = mean + std::sqrt(squares / static_cast<double>(picture.size()));
  for (float& value : picture.host()) value = static_cast<float>(static_cast<double>(value) / white);
}

/// Displayed picture: clipped at white, 1.
Array<float, 2> shown(const Array<float, 2>& picture) {
  Array<float, 2> cut(picture.shape());
  std::transform(picture.data(), picture.data() + picture.size(), cut.data(),
                 [](float v) { return std::min(v, 1.0f); });
  return cut;
}

/// Mask of the bottom die for an eye in the window's middle: red is its own colour, green its pips. A value is 1 only
/// for pixels that show nothing else from any part of the window.
holotone::DicePicture bottom_die(std::int64_t side) {
  holotone::DiceSceneOptions options;
  for (std::size_t i = 0; i < options.dice.size(); ++i) {
    options.dice[i].colour = {i == 1 ? 1.0f : 0.0f, 0, 0};
    options.dice[i].pip_colour = {0, i == 1 ? 1.0f : 0.0f, 0};
  }
  options.board.light_colour = options.board.dark_colour = {0, 0, 0};
  options.ambient = 1;
  options.strata = 16;
  const double across = lagrange_viewer.width_m * std::numbers::sqrt2;
  return holotone::DiceScene(options).picture({.shape = {side, side},
                                               .pitch_m = width_m / static_cast<double>(side),
                                               .plane_m = focus_m,
                                               .eye = holotone::Eye{0, 0, lagrange_viewer.distance_m, across}});
}

/// (W - P) / (W + P), W and P the means over the bottom die's own colour and over its pips.
double contrast_of(const Array<float, 2>& picture) {
  static const auto die = bottom_die(picture.shape()[0]);
  std::array<double, 2> sum{};
  std::array<double, 2> count{};
  for (std::int64_t i = 0; i < picture.size(); ++i) {
    for (std::size_t c = 0; c < 2; ++c) {
      if (die.colours.data()[3 * i + static_cast<std::int64_t>(c)] < 0.999f) continue;
      sum[c] += static_cast<double>(picture.data()[i]);
      ++count[c];
    }
  }
  const double mean = sum[0] / count[0];
  const double pips = sum[1] / count[1];
  return (mean - pips) / (mean + pips);
}

/// Contrast of the rendered scene, without diffraction.
double contrast_of_the_scene(std::int64_t side) {
  const auto picture = lagrange_scene().picture({.shape = {side, side},
                                                 .pitch_m = width_m / static_cast<double>(side),
                                                 .plane_m = focus_m,
                                                 .eye = holotone::Eye{0, 0, lagrange_viewer.distance_m}});
  Array<float, 2> grey({side, side});
  std::copy_n(picture.colours.data(), grey.size(), grey.data());
  return contrast_of(grey);
}

}  // namespace

LagrangeFigure::LagrangeFigure(const Array<Complex, 2>& field, bool small)
    : field_(field),
      side_(small ? 64 : 512),
      pupil_{lagrange_viewer.width_m, lagrange_viewer.height_m, lagrange_viewer.distance_m} {
  if (!small) return;
  pupil_.width_m /= 8;
  pupil_.height_m /= 8;
}

Array<float, 2> LagrangeFigure::seen(const Quantised* quantised, double& efficiency) const {
  const Device device = field_.device();
  const holotone::Queue queue(device);
  const auto size = field_.shape()[0];
  const auto grid = lagrange_grid(size);
  holotone::EyePlan eye({.grid = grid,
                         .pupil = pupil_,
                         .output_pitch_m = width_m / static_cast<double>(side_),
                         .output_shape = {side_, side_}},
                        queue);
  std::array<Complex, 256> levels;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = Complex(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(i) / 256));
  }
  double light = 0;
  for (std::int64_t row = 0; row < size; row += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, size - row);
    Array<Complex, 2> block({rows, size});
    if (quantised != nullptr) {
      const auto* const codes = quantised->codes.data() + row * size;
      for (std::int64_t i = 0; i < block.size(); ++i) block.data()[i] = levels[codes[i]];
    } else {
      copy<Complex, 2>(block.view(), {field_.data() + row * size, {rows, size}, device}, queue);
      queue.synchronize();
    }
    for (const Complex value : block.host()) light += static_cast<double>(std::norm(value));
    if (device == Device{}) {
      eye.add_rows(std::as_const(block).view(), row);
    } else {
      const auto moved = block.to(device);
      eye.add_rows(moved.view(), row);
      queue.synchronize();
    }
  }
  efficiency = eye.power() / (light * grid.pitch_m * grid.pitch_m);
  Array<float, 2> intensity({side_, side_}, queue);
  eye.look(focus_m, intensity.view());
  queue.synchronize();
  return device == Device{} ? std::move(intensity) : intensity.to(Device{});
}

void LagrangeFigure::add(const std::string& name, const Quantised* quantised) {
  Picture picture{name, {}};
  picture.intensity = seen(quantised, picture.efficiency);
  normalise(picture.intensity);
  pictures_.push_back(std::move(picture));
}

void LagrangeFigure::finish(const std::string& path, nlohmann::json& results) const {
  fmt::print("\nFigure 8: what an eye as wide as the viewing window sees, focused at 9.1 cm\n\n");
  std::vector<std::vector<std::string>> rows = {{"hologram", "contrast", "PSNR dB", "light in the window"}};
  rows.push_back({"the scene itself", fmt::format("{:.3f}", contrast_of_the_scene(side_)), "-", "-"});
  const auto reference = shown(pictures_.front().intensity);
  std::vector<View<const float, 2>> views;
  std::vector<std::string> captions;
  for (const auto& picture : pictures_) {
    const double contrast = contrast_of(picture.intensity);
    const double error = mean_square_error(reference.view(), shown(picture.intensity).view());
    const double psnr = holotone::psnr_db(error);
    rows.push_back({picture.name, fmt::format("{:.3f}", contrast), error > 0 ? fmt::format("{:.1f}", psnr) : "-",
                    fmt::format("{:.1f} %", 100 * picture.efficiency)});
    results["figure_8"].push_back(
        {{"hologram", picture.name}, {"contrast", contrast}, {"light_share", picture.efficiency}});
    if (error > 0) results["figure_8"].back()["psnr_db"] = psnr;
    views.push_back(picture.intensity.view());
    captions.push_back(picture.name);
  }
  print_table(rows);
  fmt::print(
      "\nContrast: (W - P) / (W + P) of the bottom die's own colour and its pips, over the pixels where no part of the "
      "window\n"
      "sees anything else. PSNR: against the complex reference, pictures over the sum of their mean and standard "
      "deviation\n"
      "(the paper's 4.3), cut at 1. {} x {} pixels over 18.4 mm: a pixel averages speckle.\n",
      side_, side_);
  const auto sheet =
      contact_sheet(views, {.columns = 3, .tile_width = side_, .captions = captions, .tone = {.reference = 1}});
  Array<std::uint8_t, 3> pixels({sheet.shape()[0], sheet.shape()[1], 1});
  std::copy_n(sheet.data(), sheet.size(), pixels.data());
  holotone::write_image(path, {std::move(pixels), {}});
}

}  // namespace bench
