#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing/picture_maker.hpp>
#include <limits>
#include <numbers>
#include <utility>

namespace holotone {
namespace {

/// Phase of each pixel in turns, 0 to 1.
Array<float, 2> find_turns(const Array<Complex, 2>& field) {
  Array<float, 2> turns(field.shape());
  parallel_blocks(field.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float angle = std::arg(field.data()[i]) / (2 * std::numbers::pi_v<float>);
      turns.data()[i] = angle < 0 ? angle + 1 : angle;
    }
  });
  return turns;
}

/// Squared moduli of the transform; frequency 0 is at pixel {ny / 2, nx / 2}, and rows run against y.
Array<float, 2> spectrum_of(Array<Complex, 2> field) {
  const auto [ny, nx] = field.shape();
  FftPlan(field.shape()).execute(field.view(), FftDirection::forward);
  Array<float, 2> spectrum(field.shape());
  parallel_for(0, ny, [&, ny = ny, nx = nx](std::int64_t row) {
    const Complex* const from = field.data() + (row + ny - ny / 2) % ny * nx;
    float* const to = spectrum.data() + row * nx;
    for (std::int64_t col = 0; col < nx; ++col) to[col] = std::norm(from[(col + nx - nx / 2) % nx]);
  });
  return spectrum;
}

Image phase_image(const LightPicture& turns) {
  const auto& values = turns.channels.front();
  Array<std::uint8_t, 2> codes(values.shape());
  for (std::int64_t i = 0; i < values.size(); ++i) {
    codes.data()[i] = static_cast<std::uint8_t>(std::lround(256 * values.data()[i]) % 256);
  }
  std::vector<Array<std::uint8_t, 2>> planes;
  planes.push_back(std::move(codes));
  return {interleaved(planes), {}};
}

template <class Step>
void change_floats(Image& image, const Step& step) {
  for (float& value : std::get<Array<float, 3>>(image.pixels).host()) value = step(value);
}

void describe_eye(Metadata& metadata, const EyePupil& pupil) {
  set_metadata(metadata, "viewer_distance_m", pupil.distance_m);
  set_metadata(metadata, "viewer_x_m", pupil.x_m);
  set_metadata(metadata, "viewer_y_m", pupil.y_m);
  set_metadata(metadata, "viewer_width_m", pupil.width_m);
  set_metadata(metadata, "viewer_height_m", pupil.height_m);
  set_metadata(metadata, "pupil_shape", name_of(pupil.shape));
}

void require_tones(const PictureTones& tones) {
  constexpr std::string_view where = "PictureMaker";
  require_bounds(where, "gamma", tones.gamma, bounds_of<&PictureTones::gamma>);
  if (tones.decades) require_bounds(where, "decades", *tones.decades, bounds_of<&PictureTones::decades>);
}

}  // namespace

std::string tone_curve(const PictureTones& tones) {
  if (tones.decades) return "1 + log10(intensity / white) / decades";
  return tones.show == ShownLight::amplitude ? "sRGB(min(1, intensity / white)^(1 / (2 gamma)))"
                                             : "sRGB(min(1, intensity / white)^(1 / gamma))";
}

PictureMaker::PictureMaker(const PictureTones& tones, HologramView& view) : tones_(tones), view_(view) {
  require_tones(tones);
}

LightPicture PictureMaker::values(double distance_m, std::size_t frame, Progress& progress) {
  LightPicture picture;
  switch (tones_.show) {
    case ShownLight::phase: picture.channels.push_back(find_turns(view_.field(distance_m))); return picture;
    case ShownLight::spectrum: picture.channels.push_back(spectrum_of(view_.field(0))); return picture;
    case ShownLight::intensity:
    case ShownLight::amplitude: break;
  }
  return view_.picture(distance_m, frame, progress);
}

double PictureMaker::white_of(const LightPicture& values) const {
  return view_.unit() * static_cast<double>(white_level(values, tones_.white_rule));
}

ToneOptions PictureMaker::tone(double white) const {
  const double gamma = tones_.show == ShownLight::amplitude ? 2 * tones_.gamma : tones_.gamma;
  return {in_units(white), gamma, tones_.decades.value_or(0)};
}

Image PictureMaker::image(const LightPicture& values, double white, double distance_m, std::size_t frame) {
  const bool phase = tones_.show == ShownLight::phase;
  Image image = tones_.linear ? untoned(values) : phase ? phase_image(values) : toned(values, tone(white));
  if (tones_.linear && phase) change_floats(image, [](float turns) { return 2 * std::numbers::pi_v<float> * turns; });
  if (tones_.linear && !phase && view_.unit() != 1) take_units_out(image);
  if (tones_.linear && tones_.show == ShownLight::amplitude)
    change_floats(image, [](float value) { return std::sqrt(value); });
  image.metadata = make_metadata(white, frame);
  set_metadata(image.metadata, "distance_m", distance_m);
  return image;
}

/// An intensity in the pictures' unit.
float PictureMaker::in_units(double intensity) const {
  using Limits = std::numeric_limits<float>;
  return static_cast<float>(std::clamp(intensity / view_.unit(), double{Limits::min()}, double{Limits::max()}));
}

void PictureMaker::take_units_out(Image& image) {
  change_floats(image, [this](float value) {
    const double intensity = view_.unit() * static_cast<double>(value);
    const auto result = static_cast<float>(intensity);
    if (intensity > 0 && !std::isnormal(result)) beyond_float_ = std::max(beyond_float_, intensity);
    return result;
  });
}

Metadata PictureMaker::source_metadata() const {
  Metadata metadata;
  set_metadata(metadata, "source", view_.path());
  set_metadata(metadata, "pitch_m", view_.grid().pitch_m);
  set_metadata(metadata, "wavelength_m", view_.grid().wavelength_m);
  return metadata;
}

Metadata PictureMaker::make_metadata(double white, std::size_t frame) const {
  Metadata metadata = source_metadata();
  if (tones_.show != ShownLight::intensity) set_metadata(metadata, "show", name_of(tones_.show));
  const auto& options = view_.options();
  if (options.aperture) {
    set_metadata(metadata, "aperture_x_m", options.aperture->x_m);
    set_metadata(metadata, "aperture_y_m", options.aperture->y_m);
    set_metadata(metadata, "aperture_diameter_m", options.aperture->diameter_m);
    set_metadata(metadata, "viewer_distance_m", options.aperture->distance_m);
  }
  if (has_lens(view_.metadata())) {
    set_metadata(metadata, "focal_length_m", metadata_text(view_.metadata(), "focal_length_m"));
  }
  if (!options.pupils.empty()) describe_eye(metadata, pupil_of(options, frame));
  if (!tones_.linear && tones_.show != ShownLight::phase) {
    set_metadata(metadata, "tone", tone_curve(tones_));
    set_metadata(metadata, "white", white);
    if (tones_.decades) {
      set_metadata(metadata, "decades", *tones_.decades);
    } else {
      set_metadata(metadata, "gamma", tones_.gamma);
    }
  }
  return metadata;
}

}  // namespace holotone
