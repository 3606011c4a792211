// A panel's way from one phase to the next.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/spot_motion.hpp>
#include <holotone/recipes/spots/named_rows.hpp>

namespace holotone {
namespace {

constexpr double max_share = 2;
constexpr std::size_t max_table_rows = 100'000;
constexpr std::array<std::string_view, 2> column_names{"time", "share"};

bool is_later(double time_s, double last_s) {
  return time_s > last_s && time_s <= bounds_of<&PanelRelaxation::time_constant_s>.high;
}

bool rises_from_zero(const std::vector<double>& time_s) {
  double last_s = 0;
  for (const double time : time_s) {
    if (!is_later(time, last_s)) return false;
    last_s = time;
  }
  return true;
}

}  // namespace

PanelRelaxation read_panel_relaxation(const std::string& path) {
  PanelRelaxation relaxation;
  const auto add = [&](const NamedRow& row) {
    const double unit = seconds_in(row.unit[0]);
    if (!(unit > 0)) {
      throw_io(path, "a unit of time, s, ms, us or min, such as time_ms",
               row.unit[0].empty() ? "none" : io::in_quotes(row.unit[0]));
    }
    if (!row.value[0] || !row.value[1]) throw_io(path, fmt::format("time and share ({})", row.place()), "one of them");
    const double time_s = *row.value[0] * unit;
    const double share = *row.value[1];
    if (!(share >= 0 && share <= max_share)) {
      throw_io(path, fmt::format("a share of 0 to {:g} ({})", max_share, row.place()), fmt::format("{:g}", share));
    }
    if (time_s == 0 && share == 0 && relaxation.time_s.empty()) return;  // where every panel begins
    if (!is_later(time_s, relaxation.time_s.empty() ? 0 : relaxation.time_s.back())) {
      throw_io(path, fmt::format("rising times > 0 ({})", row.place()), fmt::format("{:g} s", time_s));
    }
    if (relaxation.time_s.size() == max_table_rows) {
      throw_io(path, fmt::format("at most {} rows", max_table_rows), "more");
    }
    relaxation.time_s.push_back(time_s);
    relaxation.share.push_back(share);
  };
  constexpr std::array<std::size_t, 2> in_order{0, 1};
  const auto refuse_unit = [&](const std::string& unit) {
    throw_io(path, "the unit in the column's name, such as time_ms", io::in_quotes(unit));
  };
  read_named_rows(path, column_names, in_order, "response", refuse_unit, add);
  if (relaxation.time_s.empty()) throw_io(path, "at least 1 row with a time > 0", "0");
  return relaxation;
}

double relaxed_share(const PanelRelaxation& relaxation, double time_s) {
  constexpr const char* where = "relaxed_share";
  require_bounds(where, "time_constant_s", relaxation.time_constant_s, bounds_of<&PanelRelaxation::time_constant_s>);
  const auto& times = relaxation.time_s;
  const auto& shares = relaxation.share;
  if (times.size() != shares.size() || !rises_from_zero(times)) {
    throw_argument(where, "time_s", "rising times > 0, each with a share",
                   fmt::format("{} times and {} shares", times.size(), shares.size()));
  }
  if (!std::ranges::all_of(shares, [](double share) { return share >= 0 && share <= max_share; })) {
    throw_argument(where, "share", fmt::format("0 to {:g}", max_share), "another value");
  }
  if (times.empty()) return relaxation.time_constant_s > 0 ? -std::expm1(-time_s / relaxation.time_constant_s) : 1;
  if (relaxation.time_constant_s > 0) throw_argument(where, "time_constant_s", "0 beside a table", "both");
  const auto after = std::ranges::upper_bound(times, time_s);
  if (after == times.end()) return shares.back();
  const auto k = static_cast<std::size_t>(after - times.begin());
  const double low_s = k > 0 ? times[k - 1] : 0;
  const double low = k > 0 ? shares[k - 1] : 0;
  return low + (shares[k] - low) * std::max(time_s - low_s, 0.0) / (times[k] - low_s);
}

}  // namespace holotone
