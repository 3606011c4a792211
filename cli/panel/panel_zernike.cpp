#include <algorithm>
#include <cli/common/values.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_run.hpp>
#include <cli/panel/panel_values.hpp>
#include <cmath>
#include <holotone/optics/panel_patterns.hpp>
#include <memory>
#include <numbers>

namespace holotone::cli {
namespace {

constexpr std::string_view term_form =
    "N,M:TURNS such as 4,0:-0.2, or NOLL:TURNS such as 11:-0.2; an angle such as 0.5rad in place of turns";

struct ZernikeArguments {
  PanelPictureArguments shared;
  std::vector<std::string> terms;
  std::string norm = "rms";
  std::string radius = "inscribed";
  std::string centre = "0,0";
};

double turns_of(const std::string& text, const std::string& term) {
  if (text.empty()) reject("--term", term_form, term);
  const bool bare = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  return bare ? parse_number("--term", text) : parse_angle("--term", text) / (2 * std::numbers::pi);
}

ZernikeTerm term_of(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) reject("--term", term_form, text);
  const std::string name = text.substr(0, colon);
  const auto pieces = list("--term", name, term_form);
  if (pieces.size() > 2) reject("--term", term_form, text);
  const auto whole = [&](const std::string& piece, int low, int high) {
    const double value = number_between("--term", piece, low, high);
    if (value != std::round(value)) reject("--term", term_form, text);
    return static_cast<int>(value);
  };
  ZernikeTerm term;
  if (pieces.size() == 1) {
    term = noll_term(whole(pieces[0], 1, 5151));
  } else {
    term.n = whole(pieces[0], 0, 100);
    term.m = whole(pieces[1], -100, 100);
    if (std::abs(term.m) > term.n || (term.n - term.m) % 2 != 0) {
      reject("--term", "|m| at most n, and n - m even", text);
    }
  }
  term.turns = turns_of(text.substr(colon + 1), text);
  if (!(std::abs(term.turns) <= 1e6)) reject("--term", "a coefficient of at most 1e6 turns", text);
  return term;
}

double radius_of(const std::string& text, const FieldGrid& grid) {
  const auto nx = static_cast<double>(grid.nx);
  const auto ny = static_cast<double>(grid.ny);
  if (text == "inscribed") return grid.pitch_m * std::min(nx, ny) / 2;
  if (text == "circumscribed") return grid.pitch_m * std::hypot(nx, ny) / 2;
  const double radius_m = pixels_or_length("--radius", text, grid.pitch_m);
  if (!(radius_m >= grid.pitch_m)) {
    reject("--radius", "inscribed, circumscribed, or a radius of at least a pixel such as 4mm", text);
  }
  return radius_m;
}

PhasePattern zernike_pattern(const ZernikeArguments& arguments, const FieldGrid& grid) {
  static constexpr Choice<ZernikeNorm> norms[] = {{"rms", ZernikeNorm::rms}, {"peak", ZernikeNorm::peak}};
  ZernikeOptions options;
  for (const auto& text : arguments.terms) options.terms.push_back(term_of(text));
  options.norm = choose("--norm", arguments.norm, norms);
  options.radius_m = radius_of(arguments.radius, grid);
  const auto [x, y] = centre_of("--centre", arguments.centre, grid.pitch_m);
  options.centre_x_m = x;
  options.centre_y_m = y;
  PhasePattern pattern;
  pattern.name = "zernike";
  auto terms = nlohmann::json::array();
  for (std::size_t i = 0; i < options.terms.size(); ++i) {
    const auto& term = options.terms[i];
    pattern.options.emplace_back("--term", arguments.terms[i]);
    terms.push_back({{"n", term.n}, {"m", term.m}, {"turns", term.turns}});
  }
  pattern.options.emplace_back("--norm", arguments.norm);
  pattern.options.emplace_back("--radius", arguments.radius);
  pattern.options.emplace_back("--centre", arguments.centre);
  const double step = zernike_step_turns(options, grid);
  pattern.facts = {{"terms", terms}, {"norm", arguments.norm}, {"radius_m", options.radius_m}, {"step_turns", step}};
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
  const auto arguments = std::make_shared<ZernikeArguments>();
  auto& a = *arguments;
  return phase_pattern_command(
      "zernike", "Make a sum of Zernike polynomials, the aberrations of a round pupil",
      {"holotone panel zernike --term 2,2:0.5 --term 4,0:-0.2 -o z.png",
       "holotone panel zernike --term 11:0.1 --radius 3mm --add hologram.png -o corrected.png"},
      {{.names = "--term",
        .target = &a.terms,
        .value = "N,M:TURNS",
        .help = "Polynomial and its coefficient; or Noll's number, 11:0.1; may be repeated. Negative M: sine",
        .common = true,
        .required = true,
        .one_each = true,
        .feeds = "zernike_turns.terms|zernike_step_turns.terms"},
       {.names = "--norm",
        .target = &a.norm,
        .value = "NAME",
        .help = "Meaning of a coefficient: rms over the disc (Noll) or peak, at the rim (Born and Wolf)",
        .common = true},
       {.names = "--radius",
        .target = &a.radius,
        .value = "LENGTH",
        .help = "Disc: inscribed in the panel, circumscribed, or a length or pixels; the phase outside it is 0",
        .common = true,
        .feeds = "zernike_turns.radius_m|zernike_step_turns.radius_m"},
       {.names = "--centre,--center",
        .target = &a.centre,
        .value = "X,Y",
        .help = "Centre from the middle of the panel, x to the right and y up: lengths (1mm,0) or pixels",
        .common = true}},
      a.shared, [arguments] {
        return run_phase_pattern(arguments->shared,
                                 [&](const FieldGrid& grid) { return zernike_pattern(*arguments, grid); });
      });
}

}  // namespace holotone::cli
