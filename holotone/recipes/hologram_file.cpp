#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/fourier_filter.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/recipes/codes/hologram_codes_detail.hpp>
#include <holotone/recipes/codes/scaled_codes_detail.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/phase_map.hpp>
#include <utility>
#include <vector>

namespace holotone {
namespace {

void take_correction_out(HologramLight& light, const HologramReadOptions& options) {
  const auto map = read_correction(options.correction, light.grid.shape(), [&](const std::string& line) {
    if (options.note) return options.note(line);
    light.notes.push_back(line);
  });
  const auto phase = map.host();
  const auto field = light.field.host();
  for (std::size_t i = 0; i < field.size(); ++i) field[i] *= std::polar(1.0F, -phase[i]);
}

void require_finite(const std::string& path, View<const Complex, 2> field, std::int64_t first_row = 0) {
  constexpr auto most = static_cast<float>(max_field_value);
  const auto values = field.host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i].real()) <= most && std::abs(values[i].imag()) <= most) continue;
    const auto nx = static_cast<std::size_t>(field.shape()[1]);
    throw_io(path, fmt::format("finite values of at most {:g}", most),
             fmt::format("{:g} + {:g}i at row {}, column {}", values[i].real(), values[i].imag(),
                         static_cast<std::size_t>(first_row) + i / nx, i % nx));
  }
}

void pass_notes(const HologramReadOptions& options, const std::vector<std::string>& notes) {
  if (!options.note) return;
  for (const auto& note : notes) options.note(note);
}

double stated_length(const std::string& path, const Metadata& metadata, std::string_view key) {
  const auto value = checked_number(path, metadata, key);
  if (value) return *value;
  const MetadataKey& entry = *find_metadata_key(key);
  throw_io(path, fmt::format("{} from {:g} to {:g}", key, entry.low, entry.high), "none");
}

/// Sets the metadata and the grid of the light from its metadata and the options. `shape`: of its field.
void describe_light(HologramLight& light, const HologramReadOptions& options, Shape<2> shape, int pixel_bits) {
  for (const auto& [key, value] : options.overrides) {
    if (value.empty()) {
      light.metadata.erase(key);
    } else {
      light.metadata.insert_or_assign(key, value);
    }
  }
  if (light.metadata.contains("block_of_rows")) {
    throw_io(light.path, "a whole field", "a part of one: holotone join puts parts together");
  }
  if (options.adjust) options.adjust({light.path, light.metadata, shape, pixel_bits == 0, pixel_bits});
  light.grid = stated_grid(light.path, light.metadata, shape);
  (void)checked_number(light.path, light.metadata, "object_energy");
}

/// Sets the metadata and the grid of a picture's light, and undoes scaled codes. Returns the encoding of the codes.
HologramCodes describe_codes(HologramLight& light, const HologramReadOptions& options, Image& image) {
  light.metadata = image.metadata;
  if (!options.note) light.notes = image.notes;
  const auto shape = shape_of(image);
  const int bits = code_bits(image);
  describe_light(light, options, {shape[0], shape[1]}, bits);
  HologramCodes codes = blame_file(light.path, [&] { return codes_of_picture(light, options, bits); });
  if (!codes.packed16 && bits != 0) {
    const bool asks = needs_phase_modulator(codes.options.encoding) && !light.metadata.contains("bits");
    const bool scaled = checked_number(light.path, light.metadata, "scaled_codes").value_or(0) == 1;
    if (asks) require_known_bits(light.path, image);
    if (auto note = take_scale_out(light.path, image, codes.options.bits, scaled); !note.empty()) {
      light.notes.push_back(std::move(note));
    }
  }
  light.encoding = to_string(codes.options.encoding);
  return codes;
}

}  // namespace

bool is_hologram_field(const std::string& path, const FieldReadOptions& numbers) {
  return io::is_given(numbers) || is_field_name(path) || is_hdf5(path);
}

FieldGrid stated_grid(const std::string& path, const Metadata& metadata, Shape<2> shape) {
  if (std::max(shape[0], shape[1]) > largest_grid_side) {
    throw_io(path, fmt::format("at most {} pixels a side", largest_grid_side),
             fmt::format("{} x {}", shape[1], shape[0]));
  }
  return {shape[1], shape[0], stated_length(path, metadata, "pitch_m"), stated_length(path, metadata, "wavelength_m")};
}

void describe_encoding(Metadata& metadata, const EncodeOptions& options, const EncodeReport& report, bool packed16) {
  set_metadata(metadata, "encoding", to_string(options.encoding));
  set_metadata(metadata, "bits", options.bits);
  if (packed16) set_metadata(metadata, "packed16", 1);
  const bool phase = needs_phase_modulator(options.encoding);
  if (phase && options.level_phase_rad.empty()) set_metadata(metadata, "phase_range_rad", options.phase_range_rad);
  if (!options.level_phase_rad.empty()) set_metadata(metadata, "level_phase_rad", options.level_phase_rad);
  if (encoding_traits(options.encoding).range != EncodingTraits::Range::none) {
    set_metadata(metadata, "amplitude_min", static_cast<double>(report.amplitude_min));
    set_metadata(metadata, "amplitude_max", static_cast<double>(report.amplitude_max));
  }
  const std::pair<const char*, double> angles[] = {{"reference_angle_x_rad", options.reference_angle_x_rad},
                                                   {"reference_angle_y_rad", options.reference_angle_y_rad},
                                                   {"carrier_x_rad", options.carrier_x_rad},
                                                   {"carrier_y_rad", options.carrier_y_rad}};
  for (const auto& [key, angle] : angles) {
    if (angle != 0) set_metadata(metadata, key, angle);
  }
}

HologramLight read_hologram(const std::string& path, const HologramReadOptions& options) {
  HologramLight light;
  light.path = path;
  if (is_hologram_field(path, options.numbers)) {
    FieldFile file = options.program.empty() ? read_field(path, options.numbers)
                                             : read_field_guarded(path, options.program, {}, options.numbers);
    pass_notes(options, file.notes);
    light.field = std::move(file.values);
    light.metadata = std::move(file.metadata);
    if (const auto stated = metadata_text(light.metadata, "encoding"); !stated.empty() && stated != "complex") {
      throw_io(path, "encoding complex in a file of a field", fmt::format("'{}'", stated));
    }
    require_finite(path, light.field.view());
    light.encoding = "complex";
    describe_light(light, options, light.field.shape(), 0);
    if (!options.correction.empty()) take_correction_out(light, options);
    return light;
  }
  Image image = read_image(path, {.bytes_a_pixel = 10});
  pass_notes(options, image.notes);
  const HologramCodes codes = describe_codes(light, options, image);
  blame_file(path, [&] {
    light.field = light_of_codes(light, image, codes, options.zero_order, light.grid);
    if (!options.correction.empty()) take_correction_out(light, options);
    if (options.unfiltered) return;
    fourier_filter(light.field.view(), codes.options, light.grid);
    light.filter = fourier_filter_name(codes.options.encoding);
  });
  return light;
}

struct HologramRows::State {
  HologramLight light;
  HologramReadOptions options;
  std::unique_ptr<FieldRowsReader> field;  ///< for a field's file
  Image image;                             ///< for a picture
  HologramCodes codes;                     ///< without the reference beam
  std::vector<Complex> table;              ///< light of each code
  ReferenceBeam beam;
  Array<Complex, 2> whole;  ///< for both, if single rows are not enough
};

HologramRows::HologramRows(const std::string& path, const HologramReadOptions& options)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.options = options;
  HologramLight& light = state.light;
  light.path = path;
  bool together = !options.correction.empty();
  if (is_hologram_field(path, options.numbers)) {
    state.field = std::make_unique<FieldRowsReader>(path, options.program, options.numbers);
    pass_notes(options, state.field->notes());
    light.metadata = state.field->metadata();
    light.encoding = "complex";
    describe_light(light, options, state.field->shape(), 0);
  } else {
    state.image = read_image(path, {.bytes_a_pixel = 10});
    pass_notes(options, state.image.notes);
    state.codes = describe_codes(light, options, state.image);
    auto& encode = state.codes.options;
    state.beam = {std::exchange(encode.reference_angle_x_rad, 0), std::exchange(encode.reference_angle_y_rad, 0)};
    state.table = blame_file(path, [&] { return light_of_each_code(light, state.codes, options.zero_order); });
    together = together || (!options.unfiltered && fourier_filter_name(state.codes.options.encoding) != "none");
  }
  if (!together) return;
  state.field.reset();
  state.image = {};
  HologramReadOptions again = options;
  again.note = {};
  light = read_hologram(path, again);
  state.whole = std::move(light.field);
}

HologramRows::~HologramRows() = default;
HologramRows::HologramRows(HologramRows&&) noexcept = default;
HologramRows& HologramRows::operator=(HologramRows&&) noexcept = default;

const HologramLight& HologramRows::light() const { return state_->light; }

void HologramRows::read(std::int64_t first_row, View<Complex, 2> rows) const {
  const State& state = *state_;
  const auto& grid = state.light.grid;
  const auto [count, nx] = rows.shape();
  if (nx != grid.nx || first_row < 0 || count < 1 || first_row + count > grid.ny) {
    throw_argument("HologramRows", "rows", fmt::format("rows of {} pixels among {}", grid.nx, grid.ny),
                   fmt::format("{} of {} from row {} on", count, nx, first_row));
  }
  if (!state.whole.empty()) {
    std::copy_n(state.whole.data() + first_row * grid.nx, count * grid.nx, rows.data());
    return;
  }
  if (state.field) {
    state.field->read(first_row, rows);
    require_finite(state.light.path, rows, first_row);
    return;
  }
  if (look_up(state.image, first_row, state.table, rows)) return add_beam(state.beam, grid, first_row, rows);
  FieldGrid part = grid;
  part.ny = count;
  const Image image = rows_of(state.image, first_row, count);
  const auto light = blame_file(state.light.path, [&] {
    return light_of_codes(state.light, image, state.codes, state.options.zero_order, part);
  });
  parallel_blocks(light.size(), [&](std::int64_t begin, std::int64_t end) {
    std::copy(light.data() + begin, light.data() + end, rows.data() + begin);
  });
  add_beam(state.beam, grid, first_row, rows);
}

}  // namespace holotone
