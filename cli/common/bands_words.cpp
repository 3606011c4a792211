#include <cli/common/band_memory.hpp>
#include <cli/common/bands_words.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/ranks.hpp>
#include <cli/options/error_words.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <utility>

namespace holotone::cli {
namespace {

constexpr double giga = 1e9;

/// "1.20 of 9.80 gigapixels, 0.55 a second, cuda:1 slowest with 0.2" for large files.
void show(ProgressBar& bar, const BandsState& state) {
  const double all = static_cast<double>(state.missing_rows * state.columns) / giga;
  if (all < 0.1) return;
  const double made = static_cast<double>(state.done_rows * state.columns) / giga;
  std::string text = fmt::format("{:.2f} of {:.2f} gigapixels, {:.2g} a second", made, all, made / state.seconds);
  if (state.slowest) {
    text += fmt::format(", {} slowest with {:.2g}", to_string(*state.slowest), state.slowest_rate / giga);
  }
  bar.set_detail(std::move(text));
}

}  // namespace

BandMemory& BandMemory::all() {
  static BandMemory memory;
  return memory;
}

BandsOptions bands_options(const ConsoleOptions& console, ProgressBar& bar, const std::string& more_bands) {
  const auto discarded = [&console](const std::string& output) {
    remark(console,
           fmt::format("rows of another {} are discarded: options, files or holotone's version have changed", output));
  };
  const auto idle = [&console, more_bands](std::int64_t bands, int processes) {
    remark(console,
           fmt::format("{} for {} processes: the others wait{}", counted(bands, "band"), processes, more_bands));
  };
  const auto failed = [&console](const Error& failure, std::int64_t kept_rows, std::int64_t rows) {
    const auto kept = fmt::format("{} of {} rows are kept; run the same command to resume", kept_rows, rows);
    if (failure.code() != ErrorCode::cancelled) throw with_remark(failure, kept);
    remark(console, kept);
  };
  return {.ranks = &Ranks::all(),
          .memory = &BandMemory::all(),
          .on_discarded = discarded,
          .on_idle_processes = idle,
          .on_state = [&bar](const BandsState& state) { show(bar, state); },
          .on_failure = failed,
          .before_output = [](const std::string& path) { UnfinishedRun::will_write(path); }};
}

std::string to_text(const BandRates& rates, const std::vector<Device>& devices) {
  const double pixels = static_cast<double>(rates.pixels);
  if (pixels < 0.1 * giga || rates.seconds <= 0) return {};
  std::string text = fmt::format("{:.3g} gigapixels a second", pixels / giga / rates.seconds);
  if (rates.write_seconds > 0) {
    const double bytes = static_cast<double>(rates.write_bytes);
    text +=
        fmt::format("; {} written, the disk took {}/s", format_bytes(bytes), format_bytes(bytes / rates.write_seconds));
  }
  if (devices.size() > 1 && rates.slowest_rate > 0) {
    text += fmt::format("; {} is the slowest of {} devices with {:.3g}", to_string(devices[rates.slowest]),
                        devices.size(), rates.slowest_rate / giga);
  }
  return text;
}

}  // namespace holotone::cli
