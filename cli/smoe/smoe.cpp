#include <cli/smoe/smoe_command.hpp>

namespace holotone::cli {

Command smoe_command() {
  Command smoe{
      .name = "smoe",
      .purpose = "Fit, render, measure and convert models of pictures and light fields: steered mixtures of experts",
      .examples = {"holotone smoe fit photo.png -o photo.smoe --bytes 40k",
                   "holotone smoe render photo.smoe -o big.png --size 3840x2160",
                   "holotone smoe info photo.smoe --against photo.png"}};
  smoe.commands = {smoe_fit_command(), smoe_render_command(), smoe_info_command(), smoe_convert_command()};
  return smoe;
}

}  // namespace holotone::cli
