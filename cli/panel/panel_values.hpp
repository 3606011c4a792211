#pragma once
#include <cli/options/option_table.hpp>
#include <string>
#include <string_view>

// Values of the patterns' options, with errors that name the option.
namespace holotone::cli {

/// Length on a panel: metres or pixels.
struct PanelLength {
  double value = 0;
  bool pixels = false;

  [[nodiscard]] double metres(double pitch_m) const { return pixels ? value * pitch_m : value; }
};

/// Place on a panel.
struct PanelPlace {
  PanelLength x, y;
};

/// A length with its unit ("64um"), or a number of pixels ("8", "8px").
PanelLength parse_panel_length(std::string_view option, std::string_view text);

/// Two lengths or numbers of pixels, "1mm,0".
PanelPlace parse_place(std::string_view option, const std::string& text);

/// An angle, or "0".
double parse_direction(std::string_view option, std::string_view text);

/// Turns of a phase depth above 0, up to 2pi.
double parse_depth(std::string_view option, std::string_view text);

/// --centre of a pattern.
OptionRow centre_option(PanelPlace& centre);

/// Centre of any pattern's options.
template <class Options>
void set_centre(Options& options, const PanelPlace& centre, double pitch_m) {
  options.centre_x_m = centre.x.metres(pitch_m);
  options.centre_y_m = centre.y.metres(pitch_m);
}

}  // namespace holotone::cli
