// Delays, slots and rows of the wavefront for given taps.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/quantize/error_diffusion_pattern.hpp>
#include <iterator>
#include <map>

namespace holotone::diffusion {
namespace {

constexpr int longest_ring = 8;  // errors in registers; farther ones are read from shared memory

}  // namespace

WavefrontPattern WavefrontPattern::of(const std::vector<DiffusionTap>& taps, int min_delay) {
  WavefrontPattern pattern;
  pattern.taps = static_cast<int>(taps.size());
  std::map<int, int, std::greater<>> latest;  // least dx of each row
  for (const auto& tap : taps) {
    if (tap.dy == 0) continue;
    const auto [at, added] = latest.try_emplace(tap.dy, tap.dx);
    if (!added) at->second = std::min(at->second, tap.dx);
  }
  for (const auto& [dy, dx] : latest) {
    pattern.above = std::max(pattern.above, dy);
    pattern.lag = std::max(pattern.lag, (min_delay - dx + dy - 1) / dy);
  }
  int last_early = 0;
  for (const auto& [dy, dx] : latest) last_early = std::max(last_early, dy * pattern.lag + dx == 1 ? dy : 0);
  // Of equal slots the farther row is summed first: if a row is early, all nearer rows have to be early too.
  for (const auto& [dy, dx] : latest) pattern.rows.push_back({dy, dy * pattern.lag + dx, dy <= last_early});
  for (int i = 0; i < pattern.taps; ++i) {
    const auto& tap = taps[static_cast<std::size_t>(i)];
    if (tap.dy == 0) {
      pattern.own_taps.push_back({i, 0, tap.dx});
      pattern.ring = std::max(pattern.ring, std::min(tap.dx, longest_ring));
      if (tap.dx > longest_ring) pattern.history = std::max(pattern.history, (tap.dx + block - 1) / block);
      continue;
    }
    const auto row =
        std::find_if(pattern.rows.begin(), pattern.rows.end(), [&](const Row& above) { return above.dy == tap.dy; });
    const int slot = tap.dx - latest.at(tap.dy);
    pattern.above_taps.push_back({i, static_cast<int>(row - pattern.rows.begin()), slot});
    pattern.slots = std::max(pattern.slots, slot + 1);
    pattern.history = std::max(pattern.history, (row->delay + block - 1) / block);
  }
  std::stable_sort(pattern.above_taps.begin(), pattern.above_taps.end(),
                   [](const Tap& a, const Tap& b) { return a.row < b.row; });
  return pattern;
}

std::string WavefrontPattern::source() const {
  std::string text;
  const auto out = std::back_inserter(text);
  const auto define = [&](const char* name, int value) { fmt::format_to(out, "#define {} {}\n", name, value); };
  define("TAPS", taps);
  define("LAG", lag);
  define("BLOCK", block);
  define("ABOVE", above);
  define("HISTORY", history);
  define("SLOTS", slots);
  define("RING", ring);
  define("NEAREST", !own_taps.empty() && own_taps.back().slot == 1 ? 1 : 0);
  define("ROW_COUNT", std::max(static_cast<int>(rows.size()), 1));
  text += "#define ROWS(X)";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::format_to(out, " X({}, {}, {}, {})", i, rows[i].dy, rows[i].delay, rows[i].early ? 1 : 0);
  }
  for (const bool early : {true, false}) {
    text += early ? "\n#define EARLY_TAPS(X)" : "\n#define LATE_TAPS(X)";
    for (const auto& tap : above_taps) {
      if (rows[static_cast<std::size_t>(tap.row)].early == early)
        fmt::format_to(out, " X({}, {}, {})", tap.weight, tap.row, tap.slot);
    }
  }
  text += "\n#define OWN_TAPS(X)";
  for (const auto& tap : own_taps) fmt::format_to(out, " X({}, {})", tap.weight, tap.slot);
  text += "\n";
  return text;
}

}  // namespace holotone::diffusion
