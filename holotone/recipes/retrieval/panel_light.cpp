#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>
#include <iterator>
#include <limits>
#include <numbers>

namespace holotone {
namespace {

constexpr std::string_view where = "retrieve_picture";
constexpr double turn = 2 * std::numbers::pi;

bool has_offset(const EncodeOptions& encoding) {
  return encoding.carrier_x_rad != 0 || encoding.carrier_y_rad != 0 || !encoding.correction_rad.empty();
}

bool can_round_in_stages(const PictureRetrievalOptions& options) {
  const auto solver = options.solver.solver;
  return (solver == RetrievalSolver::lbfgs || solver == RetrievalSolver::adam) && !has_offset(options.encoding);
}

void require_encoding(const StatedHologram& stated) {
  if (stated.is_field || stated.metadata.contains("encoding")) return;
  throw_io(stated.path, "a hologram to start from", "a picture that states no encoding");
}

/// Amplitude exp(-r^2 / w^2), whose square is exp(-2 r^2 / w^2).
Array<Complex, 2> gaussian_beam(double diameter_m, const FieldGrid& grid) {
  Array<Complex, 2> light(grid.shape());
  const double radius = diameter_m / 2 / grid.pitch_m;
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double x = (static_cast<double>(column) - static_cast<double>(grid.nx - 1) / 2) / radius;
      const double y = (static_cast<double>(row) - static_cast<double>(grid.ny - 1) / 2) / radius;
      light(row, column) = static_cast<float>(std::exp(-x * x - y * y));
    }
  }
  if (light(grid.ny / 2, grid.nx / 2).real() < std::numeric_limits<float>::min()) {
    throw_argument(where, "beam_diameter_m",
                   fmt::format("a beam that lights a pixel of {}", format_length(grid.pitch_m)),
                   format_length(diameter_m));
  }
  return light;
}

}  // namespace

void require_retrieval(const PictureRetrievalOptions& options) {
  (void)retrieval_bytes(options.model, options.solver);  // checks both
  require_bounds(where, "part", options.part, bounds_of<&PictureRetrievalOptions::part>);
  const auto& encoding = options.encoding;
  if (encoding.encoding != Encoding::phase) throw_argument(where, "encoding", "phase", to_string(encoding.encoding));
  if (options.rounding == CodeRounding::stages && !can_round_in_stages(options)) {
    throw_argument(where, "rounding", "last with carrier, correction, gs and wgs", "stages");
  }
  if (!std::isfinite(options.beam_diameter_m) || options.beam_diameter_m < 0) {
    throw_argument(where, "beam_diameter_m", "> 0, or 0 for none", fmt::format("{}", options.beam_diameter_m));
  }
  const auto& model = options.model;
  if (options.solver.camera && (model.frames > 1 || model.planes.size() > 1)) {
    throw_argument(where, "camera", "one subframe and one plane", "several");
  }
  if (!options.against.empty() && model.planes.size() > 1) throw_argument(where, "against", "one plane", "several");
}

bool may_transport(const PictureRetrievalOptions& options) {
  const auto& model = options.model;
  const auto solver = options.solver.solver;
  const bool has_gradient = solver == RetrievalSolver::lbfgs || solver == RetrievalSolver::adam;
  const bool is_plain = model.frames == 1 && model.planes.size() == 1 && !model.planes.front().pupil;
  const bool has_distance = model.focal_length_m > 0 || model.planes.front().distance_m != 0;
  const auto phases = code_phases(options.encoding);
  const double stroke = phases.empty() ? 0 : *std::ranges::max_element(phases) - *std::ranges::min_element(phases);
  const double steps = phases.empty() ? 1 : static_cast<double>(phases.size());
  const bool shows_a_turn = stroke * steps / std::max(1.0, steps - 1) > 0.99 * turn;
  return !options.start && has_gradient && is_plain && has_distance && shows_a_turn && !options.solver.camera;
}

Metadata retrieval_metadata(const PictureRetrievalOptions& options, StartPhase start) {
  const auto& model = options.model;
  Metadata metadata;
  if (model.focal_length_m > 0) set_metadata(metadata, "focal_length_m", model.focal_length_m);
  set_metadata(metadata, "distance_m", model.planes[model.planes.size() / 2].distance_m);
  set_metadata(metadata, "phase", name_of(start));
  set_metadata(metadata, "signal_region", region_numbers(model.region));
  set_metadata(metadata, "seed", std::to_string(options.seed));
  return metadata;
}

CodeRounding chosen_rounding(const PictureRetrievalOptions& options) {
  constexpr int max_staged_bits = 4;  // above, rounding costs less than the steps that avoid it
  if (options.rounding) return *options.rounding;
  const bool staged = can_round_in_stages(options) && options.encoding.bits <= max_staged_bits;
  return staged ? CodeRounding::stages : CodeRounding::last;
}

std::vector<double> code_phases(const EncodeOptions& encoding) {
  std::vector<double> phases;
  if (!encoding.level_phase_rad.empty()) {
    std::ranges::copy_if(encoding.level_phase_rad, std::back_inserter(phases), [](double p) { return !std::isnan(p); });
    return phases;
  }
  const int count = 1 << encoding.bits;
  for (int code = 0; code < count; ++code) {
    const double phase = encoding.phase_range_rad * code / count;
    if (phase < turn) phases.push_back(phase);
  }
  return phases;
}

Array<Complex, 2> phase_wave(View<const float, 2> phase_rad) {
  Array<Complex, 2> field(phase_rad.shape());
  parallel_blocks(phase_rad.size(), [&](std::int64_t begin, std::int64_t end) {
    std::transform(phase_rad.data() + begin, phase_rad.data() + end, field.data() + begin,
                   [](float value) { return std::polar(1.0F, value); });
  });
  return field;
}

void clip_to_pupil(Array<Complex, 2>& light, const FieldGrid& grid, double diameter_m) {
  if (light.empty()) {
    light = Array<Complex, 2>(grid.shape());
    std::fill_n(light.data(), light.size(), Complex(1));
  }
  const double radius = diameter_m / 2 / grid.pitch_m;
  bool is_lit = false;
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double x = static_cast<double>(column) - static_cast<double>(grid.nx - 1) / 2;
      const double y = static_cast<double>(row) - static_cast<double>(grid.ny - 1) / 2;
      const bool passes = x * x + y * y <= radius * radius;
      if (!passes) light(row, column) = {};
      is_lit = is_lit || (passes && light(row, column) != Complex());
    }
  }
  if (!is_lit) {
    throw_argument("clip_to_pupil", "diameter_m", fmt::format("light on a pixel of {}", format_length(grid.pitch_m)),
                   format_length(diameter_m));
  }
}

PhaseCodes phase_codes(View<const float, 2> phase_rad, const EncodeOptions& encoding, const FieldGrid& grid) {
  const auto added = added_phase(encoding, grid);
  EncodeReport report;
  PhaseCodes made{encode(phase_wave(phase_rad).view(), encoding, grid, &report), Array<float, 2>(grid.shape())};
  const auto light = modulation_of(made.codes.view(), encoding, grid, report);
  parallel_blocks(light.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      made.shown_rad.data()[i] = std::arg(light.data()[i]) - (added.empty() ? 0.0F : added.data()[i]);
    }
  });
  return made;
}

Array<float, 2> added_phase(const EncodeOptions& encoding, const FieldGrid& grid) {
  if (!has_offset(encoding)) return {};
  const double wave_number = turn / grid.wavelength_m;
  const double step_x = wave_number * grid.pitch_m * std::sin(encoding.carrier_x_rad);
  const double step_y = wave_number * grid.pitch_m * std::sin(encoding.carrier_y_rad);
  Array<float, 2> phase(grid.shape());
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    const double y = static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(row);
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double x = static_cast<double>(column) - static_cast<double>(grid.nx - 1) / 2;
      double sum = x * step_x + y * step_y;
      if (!encoding.correction_rad.empty()) sum += static_cast<double>(encoding.correction_rad(row, column));
      phase(row, column) = static_cast<float>(std::remainder(sum, turn));
    }
  }
  return phase;
}

Array<Complex, 2> beam_light(const PictureRetrievalOptions& options) {
  const auto& grid = options.model.grid;
  if (options.beam_diameter_m > 0) return gaussian_beam(options.beam_diameter_m, grid);
  const auto& beam = options.beam;
  if (beam.empty()) return {};
  if (beam.shape() != grid.shape()) {
    throw_argument(where, "beam", fmt::format("the panel's {} x {} pixels", grid.nx, grid.ny),
                   fmt::format("{} x {}", beam.shape()[1], beam.shape()[0]));
  }
  const float largest = *std::ranges::max_element(beam.host());
  if (largest == 0) throw_argument(where, "beam", "a beam with some light", "a black picture");
  Array<Complex, 2> light(grid.shape());
  std::ranges::transform(beam.host(), light.data(), [largest](float value) { return value / largest; });
  return light;
}

Array<float, 3> stored_phases(const std::vector<std::string>& files, const FieldGrid& grid,
                              const EncodeOptions& encoding, HologramReadOptions reading) {
  const auto adjust = reading.adjust ? std::move(reading.adjust) : require_encoding;
  reading.adjust = [&](const StatedHologram& stated) {
    const auto [ny, nx] = stated.shape;
    if (stated.shape != grid.shape()) {
      throw_io(stated.path, fmt::format("the panel's {} x {} pixels", grid.nx, grid.ny),
               fmt::format("{} x {}", nx, ny));
    }
    adjust(stated);
  };
  Array<float, 3> phases({std::ssize(files), grid.ny, grid.nx});
  const auto added = added_phase(encoding, grid);
  float* to = phases.data();
  for (const auto& file : files) {
    const auto light = read_hologram(file, reading);
    for (std::int64_t i = 0; i < light.field.size(); ++i) {
      *to++ = std::arg(light.field.data()[i]) - (added.empty() ? 0.0F : added.data()[i]);
    }
  }
  return phases;
}

}  // namespace holotone
