#include <algorithm>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cli/panel/panel_job.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/image_rows.hpp>
#include <holotone/recipes/metadata_keys.hpp>

namespace holotone::cli {
namespace {

constexpr double same_length = 1e-6;  ///< relative difference of two equal lengths

/// What a file states before its codes are read.
struct StatedCodes {
  std::string path;
  Shape<3> shape;
  int pixel_bits = 0;
  Metadata metadata;

  [[nodiscard]] bool packed16() const { return metadata_text(metadata, "packed16") == "1"; }
  [[nodiscard]] int bits() const {
    return static_cast<int>(checked_number(path, metadata, "bits").value_or(packed16() ? 16 : pixel_bits));
  }
};

StatedCodes stated_codes(const std::string& path) {
  io::require_input(path);
  if (is_hologram_field(path)) reject<&PanelPictureJob::add>("a picture of phase codes", path + ", a complex field");
  const ImageRowsReader reader(path);
  StatedCodes stated{path, reader.shape(), reader.bits(), reader.metadata()};
  check_metadata(path, stated.metadata);
  const std::string encoding = metadata_text(stated.metadata, "encoding");
  if (!encoding.empty() && encoding != "phase" && encoding != "double-phase") {
    reject<&PanelPictureJob::add>("phase codes", fmt::format("{}, which is {}", path, printable(encoding)));
  }
  if (stated.bits() < 2) reject<&PanelPictureJob::add>("codes of at least 2 bits", path + ", whose codes have 1");
  return stated;
}

/// The preset that a file names, if its size and pitch are the file's.
bool is_of_preset(const StatedCodes& stated, double pitch_m) {
  const auto name = metadata_text(stated.metadata, "panel");
  return std::ranges::any_of(panels(), [&](const Panel& panel) {
    return panel.name == name && panel.nx == stated.shape[1] && panel.ny == stated.shape[0] && panel.pitch_m == pitch_m;
  });
}

void take_panel(PanelChoice& panel, const StatedCodes& first) {
  if (panel.given()) return;
  const auto pitch_m = checked_number(first.path, first.metadata, "pitch_m");
  if (!pitch_m) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--add: expected --panel, or --resolution and --pitch, because {} does not state its pitch, "
                    "got none",
                    first.path));
  }
  if (is_of_preset(first, *pitch_m)) {
    panel.preset = find_panel(metadata_text(first.metadata, "panel"));
    return;
  }
  panel.resolution = {first.shape[1], first.shape[0]};
  panel.pitch_m = *pitch_m;
}

/// Fills options that are not given with what the file states. True if the levels are the file's.
bool take_over(HologramJob& job, const StatedCodes& first) {
  take_panel(job.panel_choice, first);
  if (!job.wavelength_m) job.wavelength_m = checked_number(first.path, first.metadata, "wavelength_m");
  if (!job.encoding.given) job.encoding = {true, Encoding::phase};
  if (job.bits || !job.lut.empty() || job.phase_range_rad.given() || job.packed16) return false;
  job.packed16 = first.packed16();
  job.bits = first.bits();
  return true;
}

void take_levels(EncodeOptions& encode, const StatedCodes& first) {
  const auto range = checked_number(first.path, first.metadata, "phase_range_rad");
  auto levels = checked_numbers(first.path, first.metadata, "level_phase_rad");
  if (!range && levels.empty()) return;
  if (range) encode.phase_range_rad = *range;
  encode.level_phase_rad = std::move(levels);
}

void require_equal(const StatedCodes& stated, std::string_view key, double expected, std::string_view noun) {
  const auto value = checked_number(stated.path, stated.metadata, key);
  if (!value || std::abs(*value / expected - 1) <= same_length) return;
  reject<&PanelPictureJob::add>(fmt::format("a hologram for {} of {}", noun, format_length(expected)),
                                fmt::format("{}, which is for {}", stated.path, format_length(*value)));
}

void require_match(const StatedCodes& stated, const HologramJob& job) {
  const Panel& panel = job.panel;
  if (stated.shape[0] != panel.ny || stated.shape[1] != panel.nx) {
    reject<&PanelPictureJob::add>(fmt::format("a hologram of {} x {} pixels", panel.nx, panel.ny),
                                  fmt::format("{}, which has {} x {}", stated.path, stated.shape[1], stated.shape[0]));
  }
  const bool of_any_bits = !stated.metadata.contains("bits") && !stated.packed16();
  if (stated.bits() != job.encode.bits && !(of_any_bits && job.encode.bits < stated.pixel_bits)) {
    reject<&PanelPictureJob::add>(fmt::format("codes of {}", counted(job.encode.bits, "bit")),
                                  fmt::format("{}, whose codes have {}", stated.path, stated.bits()));
  }
  require_equal(stated, "pitch_m", panel.pitch_m, "a pitch");
  require_equal(stated, "wavelength_m", job.channels.front().wavelength_m, "a wavelength");
}

/// Opens a file whose codes are the phases of the panel alone: without the beam that lights it.
AddedHologram opened(const StatedCodes& stated, const HologramJob& job, bool bits_given) {
  HologramReadOptions options;
  const auto set = [&](std::string_view key, const auto& value) { set_metadata(options.overrides, key, value); };
  set("pitch_m", job.panel.pitch_m);
  set("wavelength_m", job.channels.front().wavelength_m);
  options.overrides["reference_angle_x_rad"] = "";
  options.overrides["reference_angle_y_rad"] = "";
  if (stated.metadata.count("phase_range_rad") + stated.metadata.count("level_phase_rad") == 0) {
    set("phase_range_rad", job.encode.phase_range_rad);
    if (!job.encode.level_phase_rad.empty()) set("level_phase_rad", job.encode.level_phase_rad);
  }
  if (job.packed16) set("packed16", 1.0);
  if (bits_given && !stated.metadata.contains("bits")) set("bits", static_cast<double>(job.encode.bits));
  options.unfiltered = metadata_text(stated.metadata, "encoding") == "double-phase";
  return {stated.path, HologramRows(stated.path, options)};
}

}  // namespace

void complete_codes(HologramJob& job) {
  constexpr auto formats = io::formats::written_pictures;
  if (!io::has_format(job.output, formats)) reject_output(io::name_ending_in(formats), job.output);
  job.device_name = "cpu";
  complete(job);
  if (const auto& panel = job.panel; std::max(panel.nx, panel.ny) > largest_picture_side) {
    const auto expected = fmt::format("from 1 to {} pixels a side", largest_picture_side);
    const auto got = fmt::format("{}x{}", panel.nx, panel.ny);
    if (job.panel_choice.size_m) reject<&PanelChoice::size_m>(expected, got);
    reject<&PanelChoice::resolution>(expected, got);
  }
}

PanelJob panel_job(PanelPictureJob& shared) {
  PanelJob job;
  job.hologram = std::move(shared.hologram);
  std::vector<StatedCodes> stated;
  for (const auto& path : shared.add) stated.push_back(stated_codes(path));
  const bool bits_given = job.hologram.bits.has_value();
  const bool of_file = !stated.empty() && take_over(job.hologram, stated.front());
  complete_codes(job.hologram);
  auto& encode = job.hologram.encode;
  if (of_file) take_levels(encode, stated.front());
  if (encode.encoding == Encoding::amplitude) {
    if (!stated.empty()) reject<&PanelPictureJob::add>("a phase panel", "--encode amplitude");
    encode.amplitude_min = -1;  // of the real part of a phasor
    encode.amplitude_max = 1;
  }
  std::string double_phase;
  for (const auto& one : stated) {
    require_match(one, job.hologram);
    job.added.push_back(opened(one, job.hologram, bits_given));
    if (metadata_text(one.metadata, "encoding") != "double-phase") continue;
    if (!double_phase.empty())
      reject<&PanelPictureJob::add>("at most one double-phase hologram", double_phase + " and " + one.path);
    double_phase = one.path;
  }
  if (!stated.empty()) job.kept = stated.front().metadata;
  if (!double_phase.empty()) {
    const auto stated_codes = std::ranges::find(stated, double_phase, &StatedCodes::path);
    for (const char* key : {"encoding", "amplitude_min", "amplitude_max"}) {
      if (stated_codes->metadata.count(key) != 0) job.kept[key] = stated_codes->metadata.at(key);
    }
  }
  return job;
}

Metadata code_metadata(const HologramJob& job, const EncodeReport& report, const std::string& pattern) {
  Metadata metadata;
  set_metadata(metadata, "software", "holotone " HOLOTONE_VERSION);
  set_metadata(metadata, "panel", job.panel.name);
  set_metadata(metadata, "pitch_m", job.panel.pitch_m);
  describe_encoding(metadata, job.encode, report, job.packed16);
  set_metadata(metadata, "pattern", pattern);
  return metadata;
}

OptionRow panel_output_option(HologramJob& job) {
  return output_option({.target = &job.output, .help = "Codes as PNG, TIFF or BMP"});
}

OptionRow panel_bits_option(HologramJob& job) {
  auto row = bits_option(job);
  row.applies = {};
  row.feeds = "EncodePlan.bits|EncodePlan.level_phase_rad|test_chart.bits";
  return row;
}

OptionRow panel_packed_option(HologramJob& job) {
  return {.names = "--packed16",
          .target = member<&HologramJob::packed16>(job),
          .help = "Write 16-bit codes as red (high byte) and green (low byte)"};
}

std::vector<OptionRow> panel_picture_options(PanelPictureJob& shared) {
  auto& job = shared.hologram;
  return {panel_output_option(job),
          {.names = "--add",
           .target = &shared.add,
           .value = "FILE",
           .help = "Hologram of phase codes to which the pattern is added modulo 2pi; may be repeated. Its panel, "
                   "wavelength and levels are the defaults",
           .common = true,
           .one_each = true,
           .feeds = "PanelPictureJob.add"},
          wavelength_options(job).front()};
}

std::vector<OptionRow> panel_code_options(PanelPictureJob& shared) {
  auto& job = shared.hologram;
  std::vector<OptionRow> rows{encoding_option(job, {Encoding::phase, Encoding::amplitude}), panel_bits_option(job)};
  rows.front().help = "phase, or amplitude: the cosine of the phase";
  for (auto& row : phase_code_options(job)) {
    if (row.names != "--carrier") rows.push_back(std::move(row));
  }
  rows.push_back(scale_codes_option(job.scale_codes, job.output));
  rows.push_back(compression_option(job.writing.compression, &job.output));
  return rows;
}

}  // namespace holotone::cli
