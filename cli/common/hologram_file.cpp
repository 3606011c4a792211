#include <algorithm>
#include <cli/common/correction.hpp>
#include <cli/common/error_words.hpp>
#include <cli/common/hologram_file.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/fourier_filter.hpp>
#include <holotone/io/field_rows.hpp>
#include <holotone/io/guarded.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

std::string text_of(const Metadata& metadata, const std::string& key) {
  const auto entry = metadata.find(key);
  return entry == metadata.end() ? std::string() : entry->second;
}

std::vector<double> numbers_of(const std::string& path, const Metadata& metadata, const std::string& key) {
  const std::string text = text_of(metadata, key);
  std::vector<double> numbers;
  const auto refuse = [&] {
    throw_io(path, fmt::format("numbers under {}", key), fmt::format("'{}'", text.substr(0, 40)));
  };
  if (metadata.count(key) != 0 && text.find_first_of("0123456789") == std::string::npos) refuse();
  if (text.find_first_of("xX") != std::string::npos) refuse();
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at || std::isinf(value)) refuse();
    numbers.push_back(value);
    at = end;
    while (*at == ' ' || *at == ',') ++at;
  }
  return numbers;
}

/// A length that the file or a flag states, within the range that flags have.
double length_of(const std::string& path, const Metadata& metadata, const std::string& key, double low_m,
                 double high_m) {
  const double value = number_of(path, metadata, key).value_or(0);
  if (!(value >= low_m && value <= high_m)) {
    throw_io(path, fmt::format("{} from {} to {}", key, low_m, high_m), fmt::format("{}", value));
  }
  return value;
}

/// A number the file states, from low to high, or `otherwise`.
double number_within(const std::string& path, const Metadata& metadata, const std::string& key, double low, double high,
                     double otherwise) {
  const double value = number_of(path, metadata, key).value_or(otherwise);
  if (!(value >= low && value <= high)) {
    throw_io(path, fmt::format("{} from {:g} to {:g}", key, low, high), fmt::format("{:g}", value));
  }
  return value;
}

/// What the codes of an amplitude encoding stand for.
EncodeReport report_of(const std::string& path, const Metadata& metadata) {
  constexpr double most = most_field_value;
  EncodeReport report;
  report.amplitude_min = static_cast<float>(number_within(path, metadata, "amplitude_min", -most, most, 0));
  report.amplitude_max = static_cast<float>(number_within(path, metadata, "amplitude_max", -most, most, 1));
  return report;
}

int bits_of(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides, int container) {
  const double bits = number_of(path, metadata, "bits").value_or(container);
  if (!(bits >= 1 && bits <= container) || bits != std::floor(bits)) {
    if (!overrides.bits.empty()) {
      reject("--bits", fmt::format("at most the {} bits that a pixel has", container), overrides.bits);
    }
    throw_io(path, fmt::format("bits from 1 to {}", container), fmt::format("{}", bits));
  }
  return static_cast<int>(bits);
}

EncodeOptions encoding_of(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides,
                          int container_bits) {
  EncodeOptions options;
  const std::string stated = text_of(metadata, "encoding");
  if (!stated.empty()) options.encoding = parse_encoding(stated.substr(0, 40));
  options.bits = bits_of(path, metadata, overrides, container_bits);
  options.phase_range_rad =
      number_within(path, metadata, "phase_range_rad", least_phase_range_rad, most_phase_rad, options.phase_range_rad);
  options.level_phase_rad = numbers_of(path, metadata, "level_phase_rad");
  if (options.level_phase_rad.size() > std::size_t{1} << options.bits) {
    throw_io(path, fmt::format("at most 2^{} numbers under level_phase_rad", options.bits),
             fmt::format("{}", options.level_phase_rad.size()));
  }
  for (const double phase : options.level_phase_rad) {
    if (!(std::abs(phase) <= most_phase_rad) && !std::isnan(phase)) {
      throw_io(path, fmt::format("level_phase_rad from {} to {}", -most_phase_rad, most_phase_rad),
               fmt::format("{}", phase));
    }
  }
  const auto angle = [&](const char* key) { return number_within(path, metadata, key, -1.5, 1.5, 0); };
  options.reference_angle_x_rad = angle("reference_angle_x_rad");
  options.reference_angle_y_rad = angle("reference_angle_y_rad");
  options.carrier_x_rad = angle("carrier_x_rad");
  options.carrier_y_rad = angle("carrier_y_rad");
  return options;
}

/// The codes of an image {ny, nx}: grey pixels as they are, or packed ones put together.
Array<std::uint16_t, 2> codes_of(const std::string& path, const Image& image, bool packed16) {
  if (packed16) {
    const auto* pixels = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
    if (pixels == nullptr || pixels->shape()[2] != 3) {
      throw_io(path, "an 8-bit RGB picture of packed 16-bit codes", "another kind of picture");
    }
    return unpack_16bit(pixels->view());
  }
  const auto shape = shape_of(image);
  Array<std::uint16_t, 2> codes({shape[0], shape[1]});
  const auto channels = static_cast<std::size_t>(shape[2]);
  const auto fill = [&](const auto& pixels) {
    const auto from = pixels.host();
    const auto to = codes.host();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto* pixel = &from[i * channels];
      if (channels >= 3 && (pixel[0] != pixel[1] || pixel[1] != pixel[2])) {
        throw_io(path, "a grey picture of modulator codes",
                 "a coloured one; --packed16 takes red and green as one code");
      }
      to[i] = static_cast<std::uint16_t>(pixel[0]);
    }
  };
  if (const auto* bytes = std::get_if<Array<std::uint8_t, 3>>(&image.pixels)) {
    fill(*bytes);
  } else if (const auto* words = std::get_if<Array<std::uint16_t, 3>>(&image.pixels)) {
    fill(*words);
  } else {
    throw_io(path, "8-bit or 16-bit modulator codes", "float32 pixels");
  }
  return codes;
}

/// A code beyond the stated bits would index past every table: the file contradicts itself.
void check_codes(const std::string& path, const Array<std::uint16_t, 2>& codes, const EncodeOptions& options) {
  if (options.bits == 16) return;
  const auto values = codes.host();
  const int most = (1 << options.bits) - 1;
  const auto largest = *std::max_element(values.begin(), values.end());
  if (largest > most)
    throw_io(path, fmt::format("codes of {} bits, at most {}", options.bits, most), fmt::format("{}", largest));
}

void take_correction_out(HologramLight& light, const std::string& correction) {
  const auto map = read_correction(correction, light.grid.nx, light.grid.ny);
  const auto phase = map.host();
  const auto field = light.field.host();
  for (std::size_t i = 0; i < field.size(); ++i) field[i] *= std::polar(1.0F, -phase[i]);
}

void require_finite(const std::string& path, View<const Complex, 2> field, std::int64_t first_row = 0) {
  constexpr auto most = static_cast<float>(most_field_value);
  const auto values = field.host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i].real()) <= most && std::abs(values[i].imag()) <= most) continue;
    const auto nx = static_cast<std::size_t>(field.shape()[1]);
    throw_io(path, fmt::format("finite values of at most {:g}", most),
             fmt::format("{:g} + {:g}i at row {}, column {}", values[i].real(), values[i].imag(),
                         static_cast<std::size_t>(first_row) + i / nx, i % nx));
  }
}

bool is_field_file(const std::string& path) {
  return is_field_name(path) || extension_of(path) == ".mat" || is_hdf5(path);
}

}  // namespace

std::string number_text(double value) { return fmt::format("{:.17g}", value); }

std::string numbers_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += fmt::format("{}{:.17g}", text.empty() ? "" : ",", value);
  return text;
}

std::optional<double> number_of(const std::string& path, const Metadata& metadata, const std::string& key) {
  if (metadata.count(key) == 0) return std::nullopt;
  const std::string text = text_of(metadata, key);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool decimal = !text.empty() && text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (!decimal || end != text.c_str() + text.size() || !std::isfinite(value)) {
    throw_io(path, fmt::format("a number under {}", key), fmt::format("'{}'", text.substr(0, 40)));
  }
  return value;
}

FieldGrid stated_grid(const std::string& path, const Metadata& metadata, Shape<2> shape) {
  if (std::max(shape[0], shape[1]) > largest_grid_side) {
    throw_io(path, fmt::format("at most {} pixels a side", largest_grid_side),
             fmt::format("{} x {}", shape[1], shape[0]));
  }
  return {shape[1], shape[0], length_of(path, metadata, "pitch_m", least_length_m, most_length_m),
          length_of(path, metadata, "wavelength_m", least_wavelength_m, most_wavelength_m)};
}

std::vector<double> phase_table(const std::string& path) {
  try {
    auto table = read_phase_lut(text_file(path));
    for (std::size_t code = 0; code < table.size(); ++code) {
      if (std::abs(table[code]) <= most_phase_rad || std::isnan(table[code])) continue;
      throw_io(path, fmt::format("phases of at most {:g} rad", most_phase_rad),
               fmt::format("{:g} for code {}", table[code], code));
    }
    return table;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw Error(ErrorCode::io, fmt::format("{}: {}", path, error.what()));
  }
}

Encoding chosen_encoding(std::string_view option, std::string_view name) {
  static constexpr Choice<Encoding> names[] = {{"phase", Encoding::phase},
                                               {"amplitude", Encoding::amplitude},
                                               {"double-phase", Encoding::double_phase},
                                               {"single-sideband", Encoding::single_sideband},
                                               {"burckhardt", Encoding::burckhardt}};
  return choose(option, name, names);
}

void describe_encoding(Metadata& metadata, const EncodeOptions& options, const EncodeReport& report, bool packed16) {
  metadata["encoding"] = to_string(options.encoding);
  metadata["bits"] = std::to_string(options.bits);
  if (packed16) metadata.emplace("packed16", "1");
  const bool phase = needs_phase_modulator(options.encoding);
  if (phase && options.level_phase_rad.empty()) metadata["phase_range_rad"] = number_text(options.phase_range_rad);
  if (!options.level_phase_rad.empty()) metadata["level_phase_rad"] = numbers_text(options.level_phase_rad);
  if (options.encoding != Encoding::phase) {
    metadata["amplitude_min"] = number_text(static_cast<double>(report.amplitude_min));
    metadata["amplitude_max"] = number_text(static_cast<double>(report.amplitude_max));
  }
  const std::pair<const char*, double> angles[] = {{"reference_angle_x_rad", options.reference_angle_x_rad},
                                                   {"reference_angle_y_rad", options.reference_angle_y_rad},
                                                   {"carrier_x_rad", options.carrier_x_rad},
                                                   {"carrier_y_rad", options.carrier_y_rad}};
  for (const auto& [key, angle] : angles) {
    if (angle != 0) metadata[key] = number_text(angle);
  }
}

namespace {

bool is_packed16(const std::string& path, const Metadata& metadata) {
  if (metadata.count("packed16") == 0) return false;
  const std::string text = text_of(metadata, "packed16");
  if (text != "0" && text != "1") throw_io(path, "0 or 1 under packed16", fmt::format("'{}'", text.substr(0, 40)));
  return text == "1";
}

/// Codes whose amplitudes are unequal steps as those of equal ones; returns their bits.
int show_level_amplitudes(const std::string& path, const Metadata& metadata, Array<std::uint16_t, 2>& codes) {
  constexpr double most = 65535;
  const auto levels = numbers_of(path, metadata, "level_amplitude");
  for (const double level : levels) {
    if (!(level >= 0 && level <= 1)) throw_io(path, "level_amplitude from 0 to 1", fmt::format("{:g}", level));
  }
  for (std::uint16_t& code : codes.host()) {
    if (code >= levels.size()) {
      throw_io(path, fmt::format("codes below {}, as many as level_amplitude has", levels.size()),
               fmt::format("{}", code));
    }
    code = static_cast<std::uint16_t>(std::lround(most * levels[code]));
  }
  return 16;
}

/// What a picture's pixels stand for, as its file and the flags say.
struct Codes {
  EncodeOptions options;
  bool packed16 = false;
};

Codes codes_meant(const HologramLight& light, const Image& image, const HologramOverrides& overrides) {
  const auto& path = light.path;
  const bool stated = light.metadata.count("encoding") != 0;
  if (!stated && light.metadata.count("software") != 0) {
    throw_io(path, "a hologram", "a picture that states no encoding; --encode would say which it has");
  }
  const bool packed16 = is_packed16(path, light.metadata);
  const bool wide = packed16 || std::holds_alternative<Array<std::uint16_t, 3>>(image.pixels);
  const auto options = encoding_of(path, light.metadata, overrides, wide ? 16 : 8);
  const std::string name(to_string(options.encoding));
  if (overrides.zero_order && needs_phase_modulator(options.encoding)) {
    reject("--zero-order", "an amplitude encoding", fmt::format("{}, which is {}", path, name));
  }
  if (overrides.no_filter && (options.encoding == Encoding::phase || options.encoding == Encoding::amplitude)) {
    reject("--no-filter", "an encoding with a stop: double-phase, single-sideband or burckhardt",
           fmt::format("{}, which is {}", path, name));
  }
  return {options, packed16};
}

/// The light that codes send out, without the stop that their encoding needs.
Array<Complex, 2> light_of(const HologramLight& light, const Image& image, const Codes& meant,
                           const HologramOverrides& overrides, const FieldGrid& grid) {
  auto codes = codes_of(light.path, image, meant.packed16);
  EncodeOptions options = meant.options;
  check_codes(light.path, codes, options);
  if (light.metadata.count("level_amplitude") != 0) {
    options.bits = show_level_amplitudes(light.path, light.metadata, codes);
  }
  return modulation_of(codes.view(), options, grid, report_of(light.path, light.metadata), overrides.zero_order);
}

/// The same through that stop.
void show_codes(HologramLight& light, const Image& image, const HologramOverrides& overrides) {
  const Codes meant = codes_meant(light, image, overrides);
  light.field = light_of(light, image, meant, overrides, light.grid);
  light.encoding = to_string(meant.options.encoding);
  if (!overrides.correction.empty()) take_correction_out(light, overrides.correction);
  if (!overrides.no_filter) {
    fourier_filter(light.field.view(), meant.options, light.grid);
    light.filter = fourier_filter_name(meant.options.encoding);
  }
}

/// What the library has against a value is said of the file that states it.
template <class Call>
auto said_of(const std::string& path, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || names_option(error)) throw;
    throw FileError(path, error);
  }
}

}  // namespace

namespace {

/// Flags about codes say nothing of a complex field.
void refuse_code_flags(const std::string& path, const HologramOverrides& overrides) {
  const std::pair<std::string_view, bool> flags[] = {{"--encode", !overrides.encoding.empty()},
                                                     {"--bits", !overrides.bits.empty()},
                                                     {"--lut", !overrides.lut.empty()},
                                                     {"--phase-range", !overrides.phase_range.empty()},
                                                     {"--amplitude-range", !overrides.amplitude_range.empty()},
                                                     {"--reference-angle", !overrides.reference_angle.empty()},
                                                     {"--carrier", !overrides.carrier.empty()},
                                                     {"--packed16", overrides.packed16},
                                                     {"--zero-order", overrides.zero_order},
                                                     {"--no-filter", overrides.no_filter}};
  for (const auto& [flag, given] : flags) {
    if (given) reject(flag, "a picture of modulator codes", path + ", a complex field");
  }
}

/// Sets what the metadata and the flags say of the light; light.grid holds its pixels.
void describe_light(HologramLight& light, const HologramOverrides& overrides, bool is_image) {
  const auto& path = light.path;
  apply_overrides(light.metadata, overrides);
  require_stated(path, light.metadata, overrides, !is_image);
  light.grid = stated_grid(path, light.metadata, light.grid.shape());
  (void)number_within(path, light.metadata, "object_energy", 0, 1e30, 0);
}

/// Rows of a picture.
Image rows_of(const Image& image, std::int64_t first, std::int64_t count) {
  const auto [ny, nx, channels] = shape_of(image);
  const std::int64_t row = nx * channels;
  Image part;
  std::visit(
      [&, shape = Shape<3>{count, nx, channels}](const auto& pixels) {
        std::remove_cvref_t<decltype(pixels)> rows(shape);
        std::copy_n(pixels.data() + first * row, count * row, rows.data());
        part.pixels = std::move(rows);
      },
      image.pixels);
  return part;
}

}  // namespace

HologramLight read_hologram(const std::string& path, const HologramOverrides& overrides) {
  HologramLight light;
  light.path = path;
  require_input(path);
  if (is_field_file(path)) {
    refuse_code_flags(path, overrides);
    FieldFile file = read_field_guarded(path, current_program());
    light.field = std::move(file.values);
    light.metadata = std::move(file.metadata);
    require_finite(path, light.field.view());
    light.encoding = "complex";
    light.grid = {light.field.shape()[1], light.field.shape()[0], 0, 0};
  }
  const bool is_image = light.encoding.empty();
  Image image;
  if (is_image) {
    image = read_image(path, {.bytes_a_pixel = 10});
    light.metadata = image.metadata;
    light.grid = {shape_of(image)[1], shape_of(image)[0], 0, 0};
  }
  describe_light(light, overrides, is_image);
  if (is_image) {
    said_of(path, [&] { show_codes(light, image, overrides); });
  } else if (!overrides.correction.empty()) {
    take_correction_out(light, overrides.correction);
  }
  return light;
}

struct HologramRows::State {
  HologramLight light;
  HologramOverrides overrides;
  std::unique_ptr<FieldRowsReader> field;  ///< of a field file
  Image image;                             ///< of a picture
  Codes codes;
  Array<Complex, 2> whole;  ///< of both where rows by themselves are not enough
};

HologramRows::HologramRows(const std::string& path, const HologramOverrides& overrides)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.overrides = overrides;
  HologramLight& light = state.light;
  light.path = path;
  require_input(path);
  const bool is_image = !is_field_file(path);
  bool together = !overrides.correction.empty();
  if (is_image) {
    state.image = read_image(path, {.bytes_a_pixel = 10});
    light.metadata = state.image.metadata;
    light.grid = {shape_of(state.image)[1], shape_of(state.image)[0], 0, 0};
  } else {
    refuse_code_flags(path, overrides);
    state.field = std::make_unique<FieldRowsReader>(path, current_program());
    light.metadata = state.field->metadata();
    light.grid = {state.field->shape()[1], state.field->shape()[0], 0, 0};
    light.encoding = "complex";
  }
  describe_light(light, overrides, is_image);
  if (is_image) {
    state.codes = said_of(path, [&] { return codes_meant(light, state.image, overrides); });
    light.encoding = to_string(state.codes.options.encoding);
    together = together || (!overrides.no_filter && fourier_filter_name(state.codes.options.encoding) != "none");
  }
  if (!together) return;
  state.field.reset();
  state.image = {};
  light = read_hologram(path, overrides);
  state.whole = std::move(light.field);
}

HologramRows::~HologramRows() = default;
HologramRows::HologramRows(HologramRows&&) noexcept = default;
HologramRows& HologramRows::operator=(HologramRows&&) noexcept = default;

const HologramLight& HologramRows::light() const { return state_->light; }

void HologramRows::read(std::int64_t first_row, View<Complex, 2> rows) const {
  const State& state = *state_;
  const auto& grid = state.light.grid;
  const std::int64_t count = rows.shape()[0];
  if (!state.whole.empty()) {
    std::copy_n(state.whole.data() + first_row * grid.nx, count * grid.nx, rows.data());
    return;
  }
  if (state.field) {
    state.field->read(first_row, rows);
    require_finite(state.light.path, rows, first_row);
    return;
  }
  FieldGrid part = grid;
  part.ny = count;
  const auto light = said_of(state.light.path, [&] {
    return light_of(state.light, rows_of(state.image, first_row, count), state.codes, state.overrides, part);
  });
  // A tilted reference beam knows where on the panel the rows are.
  const double middle = 0.5 * static_cast<double>(grid.ny - count) - static_cast<double>(first_row);
  const bool tilted = !needs_phase_modulator(state.codes.options.encoding);
  const double sine = tilted ? std::sin(state.codes.options.reference_angle_y_rad) : 0;
  const double turns = middle * grid.pitch_m * sine / grid.wavelength_m;
  const auto factor = Complex(std::polar(1.0, 2 * std::numbers::pi * (turns - std::round(turns))));
  std::transform(light.data(), light.data() + light.size(), rows.data(), [&](Complex value) { return value * factor; });
}

}  // namespace holotone::cli
