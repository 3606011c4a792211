#include <cli/panel/panel_command.hpp>

namespace holotone::cli {

Command panel_command() {
  Command panel{.name = "panel",
                .purpose =
                    "Make patterns for a panel: gratings, lenses, Zernike polynomials, axicons, vortices, "
                    "checkerboards, levels and test charts",
                .examples = {"holotone panel grating --period 8 --angle 30deg -o grating.png",
                             "holotone panel lens --focal-length 250mm --add grating.png -o sum.png",
                             "holotone panel chart -o chart.png --panel holoeye-gaea-2"}};
  panel.commands = {panel_grating_command(), panel_lens_command(),   panel_zernike_command(),
                    panel_axicon_command(),  panel_vortex_command(), panel_checkerboard_command(),
                    panel_steps_command(),   panel_chart_command()};
  return panel;
}

}  // namespace holotone::cli
