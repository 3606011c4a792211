#include <cli/common/values.hpp>
#include <cli/display/display_job.hpp>
#include <fmt/format.h>
#include <sstream>

namespace holotone::cli {
namespace {

constexpr double longest_s = 1e6;

/// "10ms", "2s" or "1min" in seconds.
double time_of(std::string_view option, const std::string& text) {
  constexpr Choice<double> units[] = {{"ms", 1e-3}, {"min", 60}, {"s", 1}};
  for (const auto& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    return unit.value *
           number_between(option, text.substr(0, text.size() - unit.name.size()), 0, longest_s / unit.value);
  }
  reject(option, "a time with its unit, such as 10ms, 2s or 1min", text);
}

std::vector<std::uint8_t> lut_of(const std::string& path) {
  std::vector<std::uint8_t> values;
  std::istringstream lines(text_file(path));
  for (std::string word; lines >> word;) {
    values.push_back(static_cast<std::uint8_t>(whole_number("--display-lut", word, 0, 255)));
  }
  if (values.size() != 256) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: expected 256 numbers, got {}", path, values.size()));
  }
  return values;
}

SafePattern safe_of(const std::string& text) {
  constexpr std::string_view level = "level:";
  SafePattern pattern;
  if (text.starts_with(level)) {
    pattern.period_px = 0;
    pattern.level = static_cast<int>(whole_number("--safe-pattern", text.substr(level.size()), 0, 255));
  } else if (text.ends_with("px")) {
    pattern.period_px = static_cast<int>(whole_number("--safe-pattern", text.substr(0, text.size() - 2), 2, 256));
  } else {
    reject("--safe-pattern", "a period such as 4px, or level:0 to level:255", text);
  }
  return pattern;
}

}  // namespace

DisplayJob display_job(const DisplayArguments& a) {
  DisplayJob job;
  job.files = a.files;
  job.console = a.console;
  job.loop = a.loop;
  job.skip_bad = a.skip_bad;
  job.keep_safe = a.keep_safe;
  if (!a.hold.empty()) job.hold_s = time_of("--hold", a.hold);
  job.rules.packed16 = !a.packed16.empty();
  job.rules.bit_planes = a.bit_planes;
  job.rules.field_sequence = a.field_sequence;
  if (!a.trigger.empty()) job.rules.trigger_px = whole_number("--trigger", a.trigger, 1, 4096);
  auto& player = job.player;
  player.fields = a.field_sequence ? 3 : 1;
  if (!a.fps.empty()) player.fps = number_between("--fps", a.fps, 1e-3, 1e5);
  if (!a.settle.empty()) player.settle_s = time_of("--settle", a.settle);
  const double fields_a_second = player.fps * player.fields;
  if (fields_a_second > 0 && player.settle_s * fields_a_second > 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--settle: expected at most {:.4g} ms at --fps {}{}, got {}", 1e3 / fields_a_second, a.fps,
                            a.field_sequence ? " with --field-sequence" : "", a.settle));
  }
  player.keep_pace = a.keep_pace;
  auto& window = player.window;
  window.monitor = a.monitor;
  if (!a.refresh.empty()) window.refresh_hz = number_between("--refresh", a.refresh, 1, 1e5);
  window.centre = a.centre;
  if (!a.display_lut.empty()) window.display_lut = lut_of(a.display_lut);
  if (!a.packed16.empty()) window.packing = a.packed16;
  window.safe = safe_of(a.safe);
  window.safe_without_focus = !a.ignore_focus;
  return job;
}

}  // namespace holotone::cli
