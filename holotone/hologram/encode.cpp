#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/encode_engine.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <limits>
#include <numbers>
#include <numeric>

namespace holotone {
namespace {

using encoding::Tables;
constexpr double two_pi = 2 * std::numbers::pi;
constexpr double degrees = 180 / std::numbers::pi;  ///< per radian
constexpr std::string_view where = "EncodePlan";
constexpr std::string_view where_execute = "EncodePlan::execute";

double fraction(double turns) {
  const double rest = turns - std::floor(turns);
  return rest < 1 ? rest : 0;
}

/// Returns the fraction of a turn in float32, in [0, 1) after rounding too.
float fraction32(double turns) {
  const auto rest = static_cast<float>(fraction(turns));
  return rest < 1 ? rest : 0.0f;
}

void check_angle(std::string_view argument, double angle_rad, const FieldGrid& grid) {
  const double finest = std::min(1.0, grid.wavelength_m / (2 * grid.pitch_m));
  if (!(std::abs(angle_rad) <= two_pi / 4 && std::abs(std::sin(angle_rad)) <= finest * (1 + 1e-12))) {
    throw_argument(where, argument,
                   fmt::format("at most {:.6g} deg either way, two pixels a fringe", std::asin(finest) * degrees),
                   fmt::format("{:.6g} deg", angle_rad * degrees));
  }
}

void check_correction(View<const float, 2> correction, const FieldGrid& grid) {
  if (correction.empty()) return;
  require_view(where, "correction_rad", correction, grid.shape(), Device{});
  const auto values = correction.host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      const auto nx = static_cast<std::size_t>(grid.nx);
      throw_argument(where, "correction_rad", "finite radians",
                     fmt::format("{} at row {}, column {}", values[i], i / nx, i % nx));
    }
  }
}

void check_level_table(const EncodeOptions& options) {
  const auto& table = options.level_phase_rad;
  const std::size_t most = std::size_t{1} << options.bits;
  if (table.size() < 2 || table.size() > most) {
    throw_argument(where, "level_phase_rad", fmt::format("2 to {} entries for {} bits", most, options.bits),
                   fmt::format("{}", table.size()));
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (std::isinf(table[i])) {
      throw_argument(where, "level_phase_rad", "finite radians, or NaN for a code not to be used",
                     fmt::format("{} for code {}", table[i], i));
    }
  }
}

void check_phase_options(const EncodeOptions& options, const FieldGrid& grid) {
  if (options.reference_angle_x_rad != 0 || options.reference_angle_y_rad != 0) {
    throw_argument(where, "reference_angle", "0 for a phase encoding (a carrier steers it)",
                   fmt::format("{:g}, {:g} rad", options.reference_angle_x_rad, options.reference_angle_y_rad));
  }
  check_angle("carrier_x_rad", options.carrier_x_rad, grid);
  check_angle("carrier_y_rad", options.carrier_y_rad, grid);
  check_correction(options.correction_rad, grid);
  if (!options.level_phase_rad.empty()) {
    check_level_table(options);
  } else {
    require_positive(where, "phase_range_rad", options.phase_range_rad);
    const double largest = std::ldexp(0.999 * two_pi, options.bits);  // code 1 must lie below 2 pi, or code 0 is the
                                                                      // only one
    require_range(where, "phase_range_rad", options.phase_range_rad, 1e-3, largest);
  }
}

void check_amplitude_options(const EncodeOptions& options, const FieldGrid& grid) {
  const std::string name(to_string(options.encoding));
  if (options.carrier_x_rad != 0 || options.carrier_y_rad != 0) {
    throw_argument(where, "carrier", fmt::format("0 for {}, which an amplitude modulator shows", name),
                   fmt::format("{:g}, {:g} rad", options.carrier_x_rad, options.carrier_y_rad));
  }
  if (!options.correction_rad.empty()) {
    throw_argument(where, "correction_rad", fmt::format("none for {}, which an amplitude modulator shows", name),
                   to_string<2>(options.correction_rad.shape()));
  }
  if (!options.level_phase_rad.empty() || options.phase_range_rad != EncodeOptions{}.phase_range_rad) {
    throw_argument(
        where, "level_phase_rad and phase_range_rad",
        fmt::format("none for {}, which an amplitude modulator shows", name),
        fmt::format("{} levels, a range of {:g} rad", options.level_phase_rad.size(), options.phase_range_rad));
  }
  const EncodingTraits traits = encoding_traits(options.encoding);
  if (traits.encodes_beam) {
    check_angle("reference_angle_x_rad", options.reference_angle_x_rad, grid);
    check_angle("reference_angle_y_rad", options.reference_angle_y_rad, grid);
  } else if (options.reference_angle_x_rad != 0 || options.reference_angle_y_rad != 0) {
    throw_argument(where, "reference_angle", fmt::format("0 for {}", name),
                   fmt::format("{:g}, {:g} rad", options.reference_angle_x_rad, options.reference_angle_y_rad));
  }
  if (options.encoding == Encoding::single_sideband && grid.ny < 3) {
    throw_argument(where, "grid", "at least 3 rows for single-sideband", std::to_string(grid.ny));
  }
  if (grid.nx < traits.cell_columns) {
    throw_argument(where, "grid", fmt::format("at least {} columns for {}", traits.cell_columns, name),
                   std::to_string(grid.nx));
  }
}

void check_range(const EncodeOptions& options) {
  const float low = options.amplitude_min;
  const float high = options.amplitude_max;
  const auto got = fmt::format("{:g} .. {:g}", low, high);
  if (low == 0 && high == 0) return;
  const bool ordered = std::isfinite(low) && std::isfinite(high) && low < high && std::isfinite(high - low);
  switch (encoding_traits(options.encoding).range) {
    case EncodingTraits::Range::none:
      throw_argument(where, "amplitude_min and amplitude_max",
                     fmt::format("0 and 0 for {}, which has no amplitude", to_string(options.encoding)), got);
    case EncodingTraits::Range::positive:
      if (!(ordered && low == 0))
        throw_argument(where, "amplitude_min and amplitude_max", "0 .. a positive number", got);
      return;
    case EncodingTraits::Range::symmetric:
      if (!ordered) throw_argument(where, "amplitude_min and amplitude_max", "finite with min < max", got);
      return;
  }
}

void check(const EncodeOptions& options, const FieldGrid& grid) {
  if (grid.nx < 1 || grid.ny < 1) {
    throw_argument(where, "grid", "at least one pixel each way", to_string<2>(grid.shape()));
  }
  require_positive(where, "grid.pitch_m", grid.pitch_m);
  require_positive(where, "grid.wavelength_m", grid.wavelength_m);
  const bool phase = needs_phase_modulator(options.encoding);
  if (options.bits < (phase ? 2 : 1) || options.bits > 16) {
    throw_argument(where, "bits", phase ? "2 to 16 for a phase encoding" : "1 to 16", std::to_string(options.bits));
  }
  check_range(options);
  if (phase) {
    check_phase_options(options, grid);
  } else {
    check_amplitude_options(options, grid);
  }
}

void make_equal_steps(const EncodeOptions& options, Tables& tables) {
  const double all = std::ldexp(1.0, options.bits);
  const double scale = all * (two_pi / options.phase_range_rad);
  const double used = std::min(all, std::ceil(scale * (1 - 1e-12)));
  tables.scale = static_cast<float>(scale);
  tables.last = static_cast<float>(used - 1);
  // Past the middle between the last used code and the full turn, code 0 is nearer.
  tables.threshold = static_cast<float>((used - 1 + scale) / 2);
}

/// Computes the sorted boundaries between neighbouring phases on the circle, and the code of each region between them.
void make_level_table(const EncodeOptions& options, Tables& tables) {
  struct Level {
    double turns;
    std::uint16_t code;
  };
  std::vector<Level> levels;
  for (std::size_t i = 0; i < options.level_phase_rad.size(); ++i) {
    const double phase = options.level_phase_rad[i];
    if (!std::isnan(phase)) levels.push_back({fraction(phase / two_pi), static_cast<std::uint16_t>(i)});
  }
  std::stable_sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) { return a.turns < b.turns; });
  const auto same = [](const Level& a, const Level& b) { return b.turns - a.turns < 1e-12; };
  levels.erase(std::unique(levels.begin(), levels.end(), same), levels.end());
  if (levels.size() < 2) {
    throw_argument(where, "level_phase_rad", "at least two different phases", fmt::format("{}", levels.size()));
  }
  const double around = (levels.back().turns + levels.front().turns + 1) / 2;
  if (around >= 1) {
    tables.boundary.push_back(fraction32(around));
    tables.code.push_back(levels.back().code);
  }
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    tables.boundary.push_back(static_cast<float>((levels[i].turns + levels[i + 1].turns) / 2));
    tables.code.push_back(levels[i].code);
  }
  tables.code.push_back(levels.back().code);
  if (around < 1) {
    tables.boundary.push_back(static_cast<float>(around));
    tables.code.push_back(levels.front().code);
  }
  std::size_t buckets = 16;
  while (buckets < 4 * tables.boundary.size()) buckets *= 2;
  tables.bucket.resize(buckets + 1);
  for (std::size_t i = 0; i <= buckets; ++i) {
    const float edge = static_cast<float>(i) / static_cast<float>(buckets);
    const auto above = std::upper_bound(tables.boundary.begin(), tables.boundary.end(), edge);
    tables.bucket[i] = static_cast<std::int32_t>(above - tables.boundary.begin());
  }
}

void make_shift(const EncodeOptions& options, const FieldGrid& grid, Tables& tables) {
  const bool carrier = options.carrier_x_rad != 0 || options.carrier_y_rad != 0;
  if (!carrier && options.correction_rad.empty()) return;
  const auto column = plane_wave_turns(grid.nx, options.carrier_x_rad, grid, 1);
  const auto row = plane_wave_turns(grid.ny, options.carrier_y_rad, grid, -1);  // y falls as the row rises
  if (options.correction_rad.empty()) {
    for (double t : column) tables.shift_column.push_back(fraction32(t));
    for (double t : row) tables.shift_row.push_back(fraction32(t));
    return;
  }
  const auto correction = options.correction_rad.host();
  tables.shift_map.resize(correction.size());
  std::size_t i = 0;
  for (double y : row) {
    for (double x : column) {
      tables.shift_map[i] = fraction32(x + y + correction[i] / two_pi);
      ++i;
    }
  }
}

std::vector<Complex> beam(const std::vector<double>& turns) {
  std::vector<Complex> values;
  values.reserve(turns.size());
  for (double t : turns) {
    values.emplace_back(static_cast<float>(std::cos(two_pi * t)), static_cast<float>(std::sin(two_pi * t)));
  }
  return values;
}

Tables make_tables(const EncodeOptions& options, const FieldGrid& grid) {
  Tables tables;
  tables.encoding = options.encoding;
  tables.shape = grid.shape();
  tables.levels = std::ldexp(1.0f, options.bits);
  tables.low = options.amplitude_min;
  tables.high = options.amplitude_max;
  const auto range = encoding_traits(options.encoding).range;
  tables.measured_range =
      range != EncodingTraits::Range::none && options.amplitude_min == 0 && options.amplitude_max == 0;
  tables.symmetric_range = range == EncodingTraits::Range::symmetric;
  if (needs_phase_modulator(options.encoding)) {
    if (options.level_phase_rad.empty()) {
      make_equal_steps(options, tables);
    } else {
      make_level_table(options, tables);
    }
    make_shift(options, grid, tables);
  } else {
    tables.beam_column = beam(plane_wave_turns(grid.nx, options.reference_angle_x_rad, grid, 1));
    tables.beam_row = beam(plane_wave_turns(grid.ny, options.reference_angle_y_rad, grid, -1));
  }
  return tables;
}

std::unique_ptr<encoding::Engine> make_engine(Tables tables, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return encoding::cpu_engine(std::move(tables));
    case Backend::cuda:
#if HOLOTONE_CUDA
      return encoding::cuda_engine(tables, queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return encoding::opencl_engine(tables, queue);
#else
      break;
#endif
  }
  throw_no_backend("EncodePlan", queue.device());
}

}  // namespace

struct EncodePlan::State {
  Shape<2> shape;
  Encoding encoding;
  bool measured_range;
  int bits;
  Queue queue;
  std::unique_ptr<encoding::Engine> engine;

  void require_part(const RowRange& part) const {
    require_rows(where_execute, part, shape[0]);
    if (part.rows == shape[0]) return;
    const auto got = fmt::format("{} of {} rows", part.rows, shape[0]);
    if (!encoding_traits(encoding).by_rows) {
      throw_unsupported(where_execute, "part",
                        fmt::format("the whole panel for {}, whose filter needs all rows; amplitude encodes parts",
                                    to_string(encoding)),
                        got);
    }
    if (measured_range) {
      throw_argument(
          where_execute, "part",
          fmt::format("the whole panel, or a given amplitude_min and amplitude_max for {}", to_string(encoding)), got);
    }
  }

  template <class Code>
  void execute(const RowRange& part, View<const Complex, 2> field, View<Code, 2> codes) const {
    if (sizeof(Code) == 1 && bits > 8) {
      throw_argument(where_execute, "codes", fmt::format("16-bit codes for {} bits", bits), "8-bit codes");
    }
    require_part(part);
    require_view(where_execute, "field", field, {part.rows, shape[1]}, queue.device());
    require_view(where_execute, "codes", codes, {part.rows, shape[1]}, queue.device());
    engine->execute(part.first_row, field, codes);
  }
};

EncodePlan::EncodePlan(const EncodeOptions& options, const FieldGrid& grid, Queue queue) {
  check(options, grid);
  auto tables = make_tables(options, grid);
  const bool measured_range = tables.measured_range;
  auto engine = make_engine(std::move(tables), queue);
  state_ = std::make_unique<State>(
      State{grid.shape(), options.encoding, measured_range, options.bits, std::move(queue), std::move(engine)});
}

EncodePlan::~EncodePlan() = default;
EncodePlan::EncodePlan(EncodePlan&&) noexcept = default;
EncodePlan& EncodePlan::operator=(EncodePlan&&) noexcept = default;

void EncodePlan::execute(View<const Complex, 2> field, View<std::uint16_t, 2> codes) {
  state_->execute({0, state_->shape[0]}, field, codes);
}
void EncodePlan::execute(View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  state_->execute({0, state_->shape[0]}, field, codes);
}
void EncodePlan::execute(const RowRange& part, View<const Complex, 2> field, View<std::uint16_t, 2> codes) {
  state_->execute(part, field, codes);
}
void EncodePlan::execute(const RowRange& part, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  state_->execute(part, field, codes);
}

EncodeReport EncodePlan::measure(const RowRange& part, View<const Complex, 2> field) {
  constexpr std::string_view where = "EncodePlan::measure";
  require_rows(where, part, state_->shape[0]);
  const EncodingTraits traits = encoding_traits(state_->encoding);
  if (!traits.by_rows) {
    const auto name = to_string(state_->encoding);
    throw_unsupported(where, "encoding", fmt::format("one other than {}, whose filter needs all rows", name), name);
  }
  require_view(where, "field", field, {part.rows, state_->shape[1]}, state_->queue.device());
  const float peak = state_->engine->peak(part.first_row, field);
  return {traits.range == EncodingTraits::Range::symmetric ? -peak : 0, peak};
}

EncodeReport EncodePlan::report() const { return state_->engine->report(); }
std::size_t EncodePlan::workspace_bytes() const { return state_->engine->workspace_bytes(); }

Array<std::uint16_t, 2> encode(View<const Complex, 2> field, const EncodeOptions& options, const FieldGrid& grid,
                               EncodeReport* report) {
  const Queue queue(field.device());
  EncodePlan plan(options, grid, queue);
  Array<std::uint16_t, 2> codes(grid.shape(), queue);
  plan.execute(field, codes.view());
  queue.synchronize();
  if (report != nullptr) *report = plan.report();
  if (queue.device() == Device{}) return codes;
  return codes.to(Device{});
}

}  // namespace holotone
