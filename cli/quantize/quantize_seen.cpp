#include <algorithm>
#include <cli/common/console.hpp>
#include <cli/quantize/quantize_seen.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/recipes/codes/field_blocks_detail.hpp>
#include <holotone/recipes/off_axis.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// Errors that grow lose more than rounding does.
constexpr double min_loss_db = 0.5;
/// Below this share the measure by transforms of finite squares is coarse.
constexpr double min_certain_light = 1e-3;

double decibels(double ratio) { return 10 * std::log10(ratio); }

/// Signal-to-noise ratio at the eye, decibels; at most 150, beyond the limit of float32.
double decibels(const WindowSignal& seen) { return decibels(seen.signal / std::max(seen.noise, 1e-15 * seen.signal)); }

/// False for a field without light: its codes are pure noise, without a signal to compare.
bool is_measured(const QuantizeRecord& row) { return !row.dark && row.window.squares > 0 && row.window.truncated > 0; }

/// False also for a field without light in the window.
bool is_seen(const QuantizeRecord& row) {
  return is_measured(row) && row.window.seen.signal > 0 && row.window.truncated_seen.signal > 0;
}

/// Notes on a twin image or a zero order in the window, for the field that has most of them.
std::vector<std::string> orders_in_window(const QuantizeJob& job, const std::vector<QuantizeRecord>& rows) {
  constexpr double visible = 0.01;  // 20 dB below the picture
  const QuantizeRecord* worst = nullptr;
  const auto zero_order = [](const QuantizeRecord& row) { return row.window.zero_order / row.window.seen.signal; };
  const auto most = [&](const QuantizeRecord& row) { return std::max(row.window.twin, zero_order(row)); };
  for (const auto& row : rows) {
    if (is_seen(row) && (worst == nullptr || most(row) > most(*worst))) worst = &row;
  }
  if (worst == nullptr) return {};
  const bool movable = separating_beam(worst->grid, *job.viewer, worst->window_px).has_value();
  const std::string tilt =
      movable ? "use --reference-angle auto" : "use a smaller viewing window and --reference-angle auto";
  std::vector<std::string> remarks;
  if (worst->window.twin > visible) {
    const std::string_view more_bits = job.diffusion.modulation == Modulation::phase ? ", or more bits" : "";
    const bool from_outside = is_off_axis(worst->grid, *job.viewer, worst->beam);
    remarks.push_back(fmt::format(
        "the twin image lies in the viewing window, {:.2g} times as bright as the picture: {}", worst->window.twin,
        from_outside
            ? fmt::format(
                  "it is light that the field sends elsewhere, while {:.2g} % of the panel's light is the picture "
                  "in the window; compute the field for the viewer only, as hologram does with --views and "
                  "--viewer",
                  100 * worst->window.seen.signal)
            : "no weights remove it from codes of one bit or of amplitudes; " + tilt + std::string(more_bits)));
  }
  if (zero_order(*worst) > visible) {
    remarks.push_back(
        fmt::format("the zero order lies in the viewing window, with {:.2g} times the picture's light; {}, or stop it",
                    zero_order(*worst), tilt));
  }
  return remarks;
}

/// The signal is clamped if all light is noise.
double signal_to_noise_db(const WindowMeasure& window) {
  return decibels(std::max(window.light - window.noise, 1e-30) / window.noise);
}

}  // namespace

nlohmann::json json_of_window(const QuantizeRecord& row) {
  if (!is_measured(row)) return nlohmann::json::object();
  const auto& window = row.window;
  nlohmann::json object{{"squares", window.squares},
                        {"noise", window.noise},
                        {"noise_db", decibels(window.noise / window.truncated)},
                        {"truncated_noise", window.truncated},
                        {"efficiency", window.light},
                        {"truncated_efficiency", window.truncated_light},
                        {"signal_to_noise_db", signal_to_noise_db(window)}};
  if (!is_seen(row)) return object;
  const double truncated_db = decibels(window.truncated_seen);
  object["projected_signal"] = window.seen.signal;
  object["projected_noise"] = window.seen.noise;
  object["projected_signal_to_noise_db"] = decibels(window.seen);
  object["truncated_projected_signal_to_noise_db"] = truncated_db;
  object["projected_gain_db"] = decibels(window.seen) - truncated_db;
  object["twin"] = window.twin;
  object["zero_order"] = window.zero_order;
  return object;
}

std::string seen_text(const QuantizeJob& job, const QuantizeRecord& row) {
  if (!is_seen(row)) return {};
  const double seen_db = decibels(row.window.seen);
  const double truncated = decibels(row.window.truncated_seen);
  std::string gain;
  std::string light;
  if (job.method != QuantizeMethod::truncate) {
    gain = fmt::format(", {:.1f} dB {} truncation ({:.1f} dB)", std::abs(seen_db - truncated),
                       seen_db < truncated ? "below" : "above", truncated);
    light = fmt::format(" (truncation {:.3g} %)", 100 * row.window.truncated_light);
  }
  return fmt::format(
      "in {}the viewing window: projected signal to noise {:.1f} dB{}; {:.3g} % of the light, noise included{}, signal "
      "to noise {:.1f} dB; {} measured",
      row.weights.clipped > 0 ? "the reached part of " : "", seen_db, gain, 100 * row.window.light, light,
      signal_to_noise_db(row.window), counted(row.window.squares, "square"));
}

std::vector<std::string> remarks_on_window(const QuantizeJob& job, const std::vector<QuantizeRecord>& rows) {
  auto remarks = orders_in_window(job, rows);
  const auto unseen =
      std::ranges::find_if(rows, [](const QuantizeRecord& row) { return is_measured(row) && !is_seen(row); });
  if (unseen != rows.end()) {
    remarks.push_back(fmt::format("no light of {} was measured in the viewing window", unseen->input));
  }
  const auto faint = std::ranges::find_if(
      rows, [](const QuantizeRecord& row) { return is_seen(row) && row.window.light < min_certain_light; });
  if (faint != rows.end()) {
    remarks.push_back(
        fmt::format("{:.2g} % of the light of {} goes to the viewing window: what the panel's edges "
                    "diffract there makes its signal to noise uncertain by several dB",
                    100 * faint->window.light, faint->output));
  }
  const bool worse = std::ranges::any_of(rows, [](const QuantizeRecord& row) {
    return is_seen(row) && decibels(row.window.seen) < decibels(row.window.truncated_seen) - min_loss_db;
  });
  if (worse) {
    remarks.emplace_back(
        job.scale > 0 ? "the picture is worse than without error diffusion: the field does not fit --scale"
        : has_windows(job.method)
            ? "the errors grow from pixel to pixel: the picture is worse than without error diffusion; use a smaller "
              "--max-sum, --rule least-squares or --method truncate"
            : "the picture is worse than without error diffusion: use --method vded or truncate");
  }
  return remarks;
}

}  // namespace holotone::cli
