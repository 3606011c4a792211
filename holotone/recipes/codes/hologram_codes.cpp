#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/recipes/codes/hologram_codes_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace holotone {
namespace {

constexpr std::size_t longest_quote = 40;  ///< of a file's text in an error

/// Amplitude range of the codes of an amplitude encoding.
EncodeReport stated_range(const HologramLight& light) {
  EncodeReport report;
  report.amplitude_min = static_cast<float>(checked_number(light.path, light.metadata, "amplitude_min").value_or(0));
  report.amplitude_max = static_cast<float>(checked_number(light.path, light.metadata, "amplitude_max").value_or(1));
  return report;
}

/// Throws io if the amplitude range is missing, without which the codes' light is unknown.
void require_range_stated(const HologramLight& light, Encoding encoding) {
  if (encoding_traits(encoding).range != EncodingTraits::Range::symmetric) return;
  for (const char* key : {"amplitude_min", "amplitude_max"}) {
    if (light.metadata.count(key) == 0) {
      throw_io(light.path, fmt::format("{} of its {} encoding", key, to_string(encoding)), "none");
    }
  }
}

int stated_bits(const HologramLight& light, int pixel_bits) {
  const double bits = number_of(light.path, light.metadata, "bits").value_or(pixel_bits);
  if (!(bits >= 1 && bits <= pixel_bits) || bits != std::floor(bits)) {
    throw_io(light.path, fmt::format("bits from 1 to the {} of a pixel", pixel_bits), fmt::format("{}", bits));
  }
  return static_cast<int>(bits);
}

EncodeOptions stated_encoding(const HologramLight& light, int pixel_bits) {
  EncodeOptions options;
  const std::string stated = metadata_text(light.metadata, "encoding");
  if (!stated.empty()) options.encoding = parse_encoding(stated.substr(0, longest_quote));
  options.bits = stated_bits(light, pixel_bits);
  options.phase_range_rad =
      checked_number(light.path, light.metadata, "phase_range_rad").value_or(options.phase_range_rad);
  options.level_phase_rad = checked_numbers(light.path, light.metadata, "level_phase_rad");
  if (options.level_phase_rad.size() > std::size_t{1} << options.bits) {
    throw_io(light.path, fmt::format("at most 2^{} numbers under level_phase_rad", options.bits),
             fmt::format("{}", options.level_phase_rad.size()));
  }
  const auto angle = [&](std::string_view key) { return checked_number(light.path, light.metadata, key).value_or(0); };
  options.reference_angle_x_rad = angle("reference_angle_x_rad");
  options.reference_angle_y_rad = angle("reference_angle_y_rad");
  options.carrier_x_rad = angle("carrier_x_rad");
  options.carrier_y_rad = angle("carrier_y_rad");
  return options;
}

/// Codes {ny, nx} of an image: grey pixels unchanged, packed pixels combined.
Array<std::uint16_t, 2> codes_of(const std::string& path, const Image& image, bool packed16) {
  if (image.lossy) throw_io(path, "modulator codes in PNG, TIFF or BMP without loss", "JPEG, which changes codes");
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
  const bool alpha = channels % 2 == 0;
  const auto fill = [&](const auto& pixels) {
    const auto from = pixels.host();
    const int opaque = (1 << code_bits(image)) - 1;
    const auto to = codes.host();
    parallel_blocks(codes.size(), [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        const auto* pixel = &from[i * channels];
        if (channels >= 3 && (pixel[0] != pixel[1] || pixel[1] != pixel[2])) {
          throw_io(path, "a grey picture of modulator codes", "a coloured one");
        }
        if (alpha && pixel[channels - 1] != opaque) {
          throw_io(path, "modulator codes without transparency", "an alpha channel that is not opaque");
        }
        to[i] = static_cast<std::uint16_t>(pixel[0]);
      }
    });
  };
  if (const auto* bytes = std::get_if<Array<std::uint8_t, 3>>(&image.pixels)) {
    fill(*bytes);
  } else if (const auto* words = std::get_if<Array<std::uint16_t, 3>>(&image.pixels)) {
    fill(*words);
  } else {
    throw_io(path, "8-bit or 16-bit modulator codes, or numbers that are read as phase, amplitude, intensity or field",
             "float32 pixels");
  }
  return codes;
}

/// A code beyond the stated bits would index past every table: the file contradicts itself.
void check_codes(const std::string& path, const Array<std::uint16_t, 2>& codes, const EncodeOptions& options) {
  if (options.bits == 16) return;
  const std::int64_t ny = codes.shape()[0];
  const std::int64_t nx = codes.shape()[1];
  const int most = (1 << options.bits) - 1;
  std::vector<std::uint16_t> rows(static_cast<std::size_t>(ny));
  parallel_for(0, ny, [&](std::int64_t y) {
    rows[static_cast<std::size_t>(y)] = *std::max_element(codes.data() + y * nx, codes.data() + (y + 1) * nx);
  });
  const auto largest = *std::max_element(rows.begin(), rows.end());
  if (largest > most) {
    throw_io(path, fmt::format("codes of {} bit{}, at most {}", options.bits, options.bits == 1 ? "" : "s", most),
             fmt::format("{}", largest));
  }
}

/// Replaces codes with unequal steps of amplitude by codes with equal steps. Returns the bits of these.
int show_level_amplitudes(const HologramLight& light, Array<std::uint16_t, 2>& codes) {
  constexpr double most = 65535;
  const auto levels = checked_numbers(light.path, light.metadata, "level_amplitude");
  for (const double level : levels) {
    if (std::isnan(level)) throw_io(light.path, "level_amplitude from 0 to 1", "nan");
  }
  for (std::uint16_t& code : codes.host()) {
    if (code >= levels.size()) {
      throw_io(light.path, fmt::format("codes below {}, as many as level_amplitude has", levels.size()),
               fmt::format("{}", code));
    }
    code = static_cast<std::uint16_t>(std::lround(most * levels[code]));
  }
  return 16;
}

/// Throws for an option that the encoding does not have.
[[noreturn]] void refuse(const HologramLight& light, std::string_view option, std::string_view expected,
                         Encoding encoding) {
  throw_argument("read_hologram", option, expected, fmt::format("{}, which is {}", light.path, to_string(encoding)));
}

}  // namespace

HologramCodes codes_of_picture(const HologramLight& light, const HologramReadOptions& options, int pixel_bits) {
  const auto& metadata = light.metadata;
  if (metadata.count("encoding") == 0 && metadata.count("software") != 0) {
    throw_io(light.path, "a hologram", "a picture that states no encoding");
  }
  HologramCodes codes;
  codes.packed16 = checked_number(light.path, metadata, "packed16").value_or(0) == 1;
  codes.options = stated_encoding(light, codes.packed16 ? 16 : pixel_bits);
  const Encoding encoding = codes.options.encoding;
  require_range_stated(light, encoding);
  if (options.zero_order && needs_phase_modulator(encoding)) {
    refuse(light, "zero_order", "an amplitude encoding", encoding);
  }
  if (options.unfiltered && encoding_traits(encoding).stop == "none") {
    const auto stops = list_encodings([](const EncodingTraits& traits) { return traits.stop != "none"; });
    refuse(light, "unfiltered", "an encoding with a stop: " + stops, encoding);
  }
  return codes;
}

Array<Complex, 2> light_of_codes(const HologramLight& light, const Image& image, const HologramCodes& meant,
                                 bool zero_order, const FieldGrid& grid) {
  auto codes = codes_of(light.path, image, meant.packed16);
  EncodeOptions options = meant.options;
  check_codes(light.path, codes, options);
  if (light.metadata.count("level_amplitude") != 0) options.bits = show_level_amplitudes(light, codes);
  return modulation_of(codes.view(), options, grid, stated_range(light), zero_order);
}

std::vector<Complex> light_of_each_code(const HologramLight& light, const HologramCodes& meant, bool zero_order) {
  if (meant.packed16) return {};
  std::size_t count = std::size_t{1} << meant.options.bits;
  if (!meant.options.level_phase_rad.empty()) count = std::min(count, meant.options.level_phase_rad.size());
  if (light.metadata.contains("level_amplitude")) {
    count = std::min(count, checked_numbers(light.path, light.metadata, "level_amplitude").size());
  }
  Array<std::uint16_t, 3> codes({1, static_cast<std::int64_t>(count), 1});
  std::iota(codes.data(), codes.data() + count, std::uint16_t{0});
  FieldGrid line = light.grid;
  line.ny = 1;
  line.nx = static_cast<std::int64_t>(count);
  HologramCodes known = meant;
  for (double& level : known.options.level_phase_rad) {
    if (std::isnan(level)) level = 0;  // of a code that was not measured
  }
  const auto values = light_of_codes(light, {std::move(codes), {}}, known, zero_order, line);
  std::vector<Complex> table(values.data(), values.data() + count);
  for (std::size_t code = 0; code < meant.options.level_phase_rad.size() && code < count; ++code) {
    if (std::isnan(meant.options.level_phase_rad[code])) table[code] = std::numeric_limits<float>::quiet_NaN();
  }
  return table;
}

bool look_up(const Image& image, std::int64_t first_row, const std::vector<Complex>& table, View<Complex, 2> rows) {
  const auto look_up_in = [&](const auto& pixels) {
    using Code = std::remove_const_t<typename decltype(pixels.host())::element_type>;
    if constexpr (std::is_same_v<Code, float>) {
      return false;
    } else {
      const auto [ny, nx, channels] = pixels.shape();
      const int opaque = (1 << code_bits(image)) - 1;
      std::atomic<bool> known = true;
      parallel_for(0, rows.shape()[0], [&, width = nx, step = channels](std::int64_t row) {
        const Code* pixel = pixels.data() + (first_row + row) * width * step;
        Complex* const to = &rows(row, 0);
        bool all = true;
        for (std::int64_t x = 0; x < width; ++x, pixel += step) {
          const bool grey = step < 3 || (pixel[0] == pixel[1] && pixel[1] == pixel[2]);
          const bool solid = step % 2 != 0 || pixel[step - 1] == opaque;
          const bool listed = grey && solid && pixel[0] < table.size();
          to[x] = table[listed ? pixel[0] : 0];
          all = all && listed && !std::isnan(to[x].real());
        }
        if (!all) known = false;
      });
      return known.load();
    }
  };
  return !table.empty() && !image.lossy && std::visit(look_up_in, image.pixels);
}

Image rows_of(const Image& image, std::int64_t first, std::int64_t count) {
  const auto [ny, nx, channels] = shape_of(image);
  const std::int64_t row = nx * channels;
  Image part{.pixels = {}, .metadata = {}, .bits = image.bits, .lossy = image.lossy};
  std::visit(
      [&, shape = Shape<3>{count, nx, channels}, values = row](const auto& pixels) {
        std::remove_cvref_t<decltype(pixels)> rows(shape);
        std::copy_n(pixels.data() + first * values, count * values, rows.data());
        part.pixels = std::move(rows);
      },
      image.pixels);
  return part;
}

}  // namespace holotone
