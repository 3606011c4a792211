#pragma once
#include <cli/common/console.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/options/option_table.hpp>
#include <holotone/core/device.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// A fit job. The command's options are bound to its members.
struct SmoeFitJob {
  std::string input;
  std::string output;
  std::string resume;
  MixtureFitOptions options;     ///< without `time_limit_s`
  std::optional<double> time_s;  ///< for the whole job
  ViewRows rows = ViewRows::by_parallax;
  std::optional<ViewsGrid> grid;
  std::vector<std::string> left_out_texts;  ///< views to hold out, as typed
  std::vector<ViewNumbers> left_out;
  std::string device_name = "auto";
  Device device;
  ConsoleOptions console;
};

/// Options of the command, bound to the job.
std::vector<OptionGroup> smoe_fit_options(SmoeFitJob& job);

/// Checks what options and files say together, and chooses the device. Throws invalid_argument or io naming the option.
void complete(SmoeFitJob& job);

}  // namespace holotone::cli
