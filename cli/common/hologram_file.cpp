#include <cli/common/hologram_file.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/option_value.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/guarded/sandbox.hpp>
#include <holotone/recipes/metadata_keys.hpp>

namespace holotone::cli {
namespace {

/// Throws for those of the flags that are given.
template <auto... Members>
void refuse_given(const HologramOverrides& overrides, std::string_view expected, std::string_view got) {
  const auto refuse = [&]<auto Member>() {
    if (overrides.*Member != HologramOverrides{}.*Member) reject<Member>(expected, got);
  };
  (refuse.template operator()<Members>(), ...);
}

/// Throws for flags about codes, which do not apply to a complex field.
void refuse_code_flags(const std::string& path, const HologramOverrides& o) {
  using Flags = HologramOverrides;
  refuse_given<&Flags::encoding, &Flags::bits, &Flags::lut, &Flags::phase_range_rad, &Flags::amplitude_ranges,
               &Flags::reference_angle_rad, &Flags::carrier, &Flags::packed16, &Flags::zero_order, &Flags::no_filter>(
      o, "a picture of modulator codes", path + ", a complex field");
}

/// Throws for flags that do not apply to the codes of this picture.
void refuse_flags_for_codes(const StatedHologram& stated, const HologramOverrides& overrides) {
  using Flags = HologramOverrides;
  const std::string name = metadata_text(stated.metadata, "encoding");
  if (name.empty() && stated.metadata.count("software") != 0) return;  // no hologram: the library reports it
  const bool packed16 = metadata_text(stated.metadata, "packed16") == "1";
  const int container = packed16 ? 16 : stated.pixel_bits;
  if (overrides.bits.value_or(0) > container) {
    reject<&Flags::bits>(fmt::format("at most the {} bits that a pixel has", container),
                         std::to_string(*overrides.bits));
  }
  const auto encoding = name.empty() ? Encoding::phase : find_value<Encoding>(name);
  if (!encoding) return;  // the library reports it
  const auto refuse = [&]<auto... Members>(bool (*suits)(const EncodingTraits&)) {
    if (suits(encoding_traits(*encoding))) return;
    refuse_given<Members...>(overrides, fmt::format("codes of {}", list_encodings(suits)),
                             fmt::format("{}, whose codes are of {}", stated.path, to_string(*encoding)));
  };
  refuse.operator()<&Flags::amplitude_ranges>([](const EncodingTraits& of) { return !of.phase_modulator; });
  refuse.operator()<&Flags::lut, &Flags::phase_range_rad>([](const EncodingTraits& of) { return of.phase_modulator; });
  refuse.operator()<&Flags::reference_angle_rad>([](const EncodingTraits& of) { return of.lit_by_beam; });
  refuse.operator()<&Flags::carrier>(is_filtered_at_carrier);
}

/// Refuses a table of more phases than the picture's codes.
void require_codes_for_table(const StatedHologram& stated, const std::string& lut) {
  const double bits = checked_number(stated.path, stated.metadata, "bits").value_or(stated.pixel_bits);
  const auto phases = checked_numbers(stated.path, stated.metadata, "level_phase_rad").size();
  if (static_cast<double>(phases) <= std::exp2(bits)) return;
  throw_io(lut, fmt::format("at most {:g} phases for codes of {:g} bits", std::exp2(bits), bits),
           fmt::format("{}", phases));
}

HologramReadOptions read_options(const HologramOverrides& overrides) {
  HologramReadOptions options;
  options.correction = overrides.correction;
  options.zero_order = overrides.zero_order;
  options.unfiltered = overrides.no_filter;
  options.program = current_program();
  options.numbers = overrides.numbers;
  options.note = overrides.note;
  options.adjust = [overrides](const StatedHologram& stated) {
    apply_overrides(stated.metadata, overrides);
    require_stated(stated.path, stated.metadata, overrides, stated.is_field);
    if (stated.is_field) return;
    refuse_flags_for_codes(stated, overrides);
    if (!overrides.lut.empty()) require_codes_for_table(stated, overrides.lut);
  };
  return options;
}

void check_inputs(const std::string& path, const HologramOverrides& overrides) {
  io::require_input(path);
  if (!overrides.correction.empty()) io::require_input(overrides.correction);
  if (is_hologram_field(path, overrides.numbers)) refuse_code_flags(path, overrides);
}

}  // namespace

void throw_with_remedy(const Error& error) {
  if (error.code() != ErrorCode::io) return;
  if (error.got() == "a picture that states no encoding") {
    throw_io(error.argument(), error.expected(), error.got() + "; --encode would say which it has");
  }
  if (error.expected().starts_with("another wavelength than that of")) {
    throw_io(error.argument(), error.expected(), error.got() + "; subframes are one name with %t, such as sub_%t.png");
  }
  if (error.got() == "none stated") throw_io(error.argument(), error.expected(), "none stated; --bits states them");
  if (io::asks_what_numbers_are(error)) {
    throw_io(error.argument(), error.expected(), error.got() + "; --read says which");
  }
  if (error.got() == "a coloured one") {
    throw_io(error.argument(), error.expected(), "a coloured one; --packed16 takes red and green as one code");
  }
}

HologramLight read_hologram(const std::string& path, const HologramOverrides& overrides) {
  check_inputs(path, overrides);
  return with_remedy([&] { return holotone::read_hologram(path, read_options(overrides)); });
}

HologramRows hologram_rows(const std::string& path, const HologramOverrides& overrides) {
  check_inputs(path, overrides);
  return with_remedy([&] { return HologramRows(path, read_options(overrides)); });
}

HologramSource hologram_source(const std::string& path, const HologramOverrides& overrides) {
  check_inputs(path, overrides);
  return {path, read_options(overrides)};
}

}  // namespace holotone::cli
