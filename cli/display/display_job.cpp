#include <cli/display/display_job.hpp>
#include <cli/options/time_option.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <sstream>

namespace holotone::cli {
namespace {

constexpr Bounds trigger_sides{1, 4096};

std::vector<std::uint8_t> read_lut(std::string_view option, const std::string& path) {
  std::vector<std::uint8_t> values;
  std::istringstream lines(io::read_text(path));
  for (std::string word; lines >> word;) {
    values.push_back(static_cast<std::uint8_t>(whole_number(option, word, 0, 255)));
  }
  if (values.size() != 256) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected 256 numbers, got {}", path, values.size()));
  }
  return values;
}

SafePattern parse_safe(std::string_view option, const std::string& text) {
  constexpr std::string_view level = "level:";
  const auto number = [&](const std::string& word, const Bounds& bounds) {
    return static_cast<int>(parse_value(option, word, ValueUnit::count, bounds));
  };
  if (text.starts_with(level)) {
    return {.period_px = 0, .level = number(text.substr(level.size()), bounds_of<&SafePattern::level>)};
  }
  if (!text.ends_with("px")) reject(option, "a period such as 4px, or level:0 to level:255", text);
  return {.period_px = number(text.substr(0, text.size() - 2), bounds_of<&SafePattern::period_px>)};
}

std::vector<OptionRow> code_options(DisplayJob& job) {
  auto& window = job.player.window;
  return {
      {.names = "--display-lut",
       .target = parsed(window.display_lut, read_lut),
       .value = "FILE",
       .help = "What is sent for codes 0 to 255: 256 numbers from 0 to 255, one a line, for panels whose driver has a "
               "table of its own"},
      {.names = "--packed16",
       .target = &window.packing,
       .value = "CHANNELS",
       .help = "Send 16-bit codes in two channels of r, g and b: that of the high byte, that of the low byte (rg)",
       .feeds = "PanelWindow.packing"},
      {.names = "--bit-planes",
       .target = &job.rules.bit_planes,
       .value = "ORDER",
       .help = "Pack 24 binary pictures in one, in the bits of the channels in this order (grb)",
       .excludes = "--packed16",
       .feeds = "pack_bit_planes.order"},
      {.names = "--scale-codes",
       .target = &job.rules.scale_codes,
       .help = "Send codes of fewer than 8 bits as 0 to 255, for drivers that take the highest bits",
       .excludes = "--packed16 --bit-planes"},
      {.names = "--field-sequence",
       .target = &job.rules.field_sequence,
       .help = "Show red, green and blue one after the other: channels of the files, or files with %c",
       .excludes = "--bit-planes"},
      {.names = "--trigger",
       .target = number(job.rules.trigger_px, ValueUnit::count, trigger_sides),
       .value = "PX",
       .help = "Side of a square in the lower right corner for a laser's photodiode, one for each colour, lit in turn",
       .otherwise = "none",
       .feeds = "draw_trigger.side_px"},
      {.names = "--settle",
       .target = parsed(job.player.settle_s, parse_time),
       .value = "TIME",
       .help = "Time a panel needs to reach a picture, such as 10ms: it stays at least as long, and the trigger is lit "
               "after it"},
  };
}

std::vector<OptionRow> safety_options(DisplayJob& job) {
  auto& window = job.player.window;
  return {
      {.names = "--safe-pattern",
       .target = parsed(window.safe, parse_safe, fmt::format("{}px", window.safe.period_px)),
       .value = "WHAT",
       .help = "What the panel shows before and after the pictures: a grating of this period (4px), or a flat code "
               "(level:0)",
       .feeds = "safe_pattern.period_px|safe_pattern.level"},
      {.names = "--keep-safe",
       .target = &job.keep_safe,
       .help = "Keep the safe pattern on the panel at the end, and after an error, until q, Escape or Ctrl-C"},
      {.names = "--ignore-focus",
       .target = setter(window.safe_without_focus, false),
       .help = "Keep the picture when another window takes the keyboard from the panel's"},
  };
}

}  // namespace

std::vector<OptionGroup> display_options(DisplayJob& job) {
  auto& window = job.player.window;
  return {{"",
           {{.names = "FILE",
             .target = &job.files,
             .help = "Pictures of codes, as large as the panel; %d or %04d counts frames, %c names colours"},
            {.names = "--monitor",
             .target = &window.monitor,
             .value = "WHICH",
             .help = "Number, name or size (1920x1080) of the panel's monitor",
             .otherwise = "the only one",
             .common = true,
             .feeds = "find_monitor.monitor|PanelWindow.monitor"},
            {.names = "--fps",
             .target = number(job.player.fps, ValueUnit::none, {1e-3, 1e5}),
             .value = "N",
             .help = "Pictures a second, up to the panel's refresh rate",
             .otherwise = "the refresh rate",
             .common = true,
             .feeds = "FramePacer.fps"},
            {.names = "--loop", .target = &job.loop, .help = "Begin again after the last picture", .common = true},
            {.names = "--hold",
             .target = parsed(job.hold_s, parse_time),
             .value = "TIME",
             .help = "Time of the last picture, such as 10s",
             .otherwise = "one picture: until q, Escape or Ctrl-C; more: its turn"},
            {.names = "--refresh",
             .target = number(window.refresh_hz, ValueUnit::none, {1, 1e5}),
             .value = "N",
             .help = "Refresh rate in Hz, of those that the panel has",
             .otherwise = "the present one",
             .feeds = "PanelWindow.refresh_hz"},
            {.names = "--centre",
             .target = &window.centre,
             .help = "Show smaller pictures in the middle, code 0 around them"},
            {.names = "--keep-pace",
             .target = &job.player.keep_pace,
             .help = "Drop pictures that are late, instead of waiting for them"},
            {.names = "--skip-bad", .target = &job.skip_bad, .help = "Leave out files that cannot be read"}}},
          {"Codes", code_options(job)},
          {"Safety", safety_options(job)},
          console_options(job.console)};
}

void complete(DisplayJob& job) {
  auto& player = job.player;
  job.rules.packed16 = !player.window.packing.empty();
  player.fields = job.rules.field_sequence ? 3 : 1;
  const double fields_a_second = player.fps * player.fields;
  if (fields_a_second > 0 && player.settle_s * fields_a_second > 1) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--settle: expected at most {:.4g} ms at --fps {:g}{}, got {:.4g} ms", 1e3 / fields_a_second,
                    player.fps, job.rules.field_sequence ? " with --field-sequence" : "", 1e3 * player.settle_s));
  }
}

}  // namespace holotone::cli
