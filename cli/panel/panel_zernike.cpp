#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_run.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/panel_patterns.hpp>
#include <memory>
#include <numbers>

namespace holotone::cli {
namespace {

constexpr std::string_view term_name = "--term";
constexpr std::string_view term_form =
    "N,M:TURNS such as 4,0:-0.2, or NOLL:TURNS such as 11:-0.2; an angle such as 0.5rad in place of turns";

/// Radius of the unit disc: of a circle in or around the panel, or a length.
struct DiscRadius {
  enum class Kind { inscribed, circumscribed, length } kind = Kind::inscribed;
  PanelLength length{};
};

struct ZernikeJob {
  PanelPictureJob shared;
  ZernikeOptions options;
  std::vector<std::string> terms;
  DiscRadius radius;
  PanelPlace centre;
};

double parse_turns(const std::string& text, const std::string& term) {
  if (text.empty()) reject(term_name, term_form, term);
  const bool bare = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  return bare ? parse_number(term_name, text) : parse_angle(term_name, text) / (2 * std::numbers::pi);
}

ZernikeTerm term_of(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) reject(term_name, term_form, text);
  const std::string name = text.substr(0, colon);
  const auto pieces = list(term_name, name, term_form);
  if (pieces.size() > 2) reject(term_name, term_form, text);
  const auto whole = [&](const std::string& piece, int low, int high) {
    const double value = number_between(term_name, piece, low, high);
    if (value != std::round(value)) reject(term_name, term_form, text);
    return static_cast<int>(value);
  };
  ZernikeTerm term;
  if (pieces.size() == 1) {
    term = noll_term(whole(pieces[0], 1, 5151));
  } else {
    term.n = whole(pieces[0], 0, 100);
    term.m = whole(pieces[1], -100, 100);
    if (std::abs(term.m) > term.n || (term.n - term.m) % 2 != 0) {
      reject(term_name, "|m| at most n, and n - m even", text);
    }
  }
  term.turns = parse_turns(text.substr(colon + 1), text);
  if (!(std::abs(term.turns) <= 1e6)) reject(term_name, "a coefficient of at most 1e6 turns", text);
  return term;
}

DiscRadius parse_radius(std::string_view option, const std::string& text) {
  if (text == "inscribed") return {};
  if (text == "circumscribed") return {DiscRadius::Kind::circumscribed};
  return {DiscRadius::Kind::length, parse_panel_length(option, text)};
}

double metres_of(const DiscRadius& radius, const FieldGrid& grid) {
  const auto nx = static_cast<double>(grid.nx);
  const auto ny = static_cast<double>(grid.ny);
  if (radius.kind == DiscRadius::Kind::inscribed) return grid.pitch_m * std::min(nx, ny) / 2;
  if (radius.kind == DiscRadius::Kind::circumscribed) return grid.pitch_m * std::hypot(nx, ny) / 2;
  const double radius_m = radius.length.metres(grid.pitch_m);
  if (!(radius_m >= grid.pitch_m)) {
    reject("--radius", "inscribed, circumscribed, or a radius of at least a pixel such as 4mm", length_text(radius_m));
  }
  return radius_m;
}

PhasePattern zernike_pattern(const ZernikeJob& job, const FieldGrid& grid) {
  ZernikeOptions options = job.options;
  for (const auto& text : job.terms) options.terms.push_back(term_of(text));
  options.radius_m = metres_of(job.radius, grid);
  set_centre(options, job.centre, grid.pitch_m);
  PhasePattern pattern;
  auto terms = nlohmann::json::array();
  for (const auto& term : options.terms) terms.push_back({{"n", term.n}, {"m", term.m}, {"turns", term.turns}});
  const double step = zernike_step_turns(options, grid);
  pattern.facts = {
      {"terms", terms}, {"norm", name_of(options.norm)}, {"radius_m", options.radius_m}, {"step_turns", step}};
  if (step > 0.5) {
    pattern.warning = fmt::format(
        "aliasing: the phase changes by up to {:.2g} turns a pixel, and the panel samples at most 0.5; smaller "
        "coefficients or a larger --radius",
        step);
  }
  pattern.turns = [options](const FieldGrid& of, const RowRange& part) { return zernike_turns(options, of, part); };
  return pattern;
}

}  // namespace

Command panel_zernike_command() {
  const auto job = std::make_shared<ZernikeJob>();
  return phase_pattern_command(
      "zernike", "Make a sum of Zernike polynomials, the aberrations of a round pupil",
      {"holotone panel zernike --term 2,2:0.5 --term 4,0:-0.2 -o z.png",
       "holotone panel zernike --term 11:0.1 --radius 3mm --add hologram.png -o corrected.png"},
      {{.names = term_name,
        .target = &job->terms,
        .value = "N,M:TURNS",
        .help = "Polynomial and its coefficient; or Noll's number, 11:0.1; may be repeated. Negative M: sine",
        .common = true,
        .required = true,
        .one_each = true,
        .feeds = "zernike_turns.terms|zernike_step_turns.terms"},
       {.names = "--norm",
        .target = member<&ZernikeOptions::norm>(job->options),
        .value = "NAME",
        .help = "Meaning of a coefficient: rms over the disc (Noll) or peak, at the rim (Born and Wolf)",
        .common = true},
       {.names = "--radius",
        .target = parsed(job->radius, parse_radius, "inscribed"),
        .value = "LENGTH",
        .help = "Disc: inscribed in the panel, circumscribed, or a length or pixels; the phase outside it is 0",
        .common = true,
        .feeds = "zernike_turns.radius_m|zernike_step_turns.radius_m"},
       centre_option(job->centre)},
      job, zernike_pattern);
}

}  // namespace holotone::cli
