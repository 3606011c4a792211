#pragma once
#include <cli/common/console.hpp>
#include <cli/common/panel_player.hpp>
#include <cli/display/picture_source.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Job of `holotone display`. The command's options are bound to its members.
struct DisplayJob {
  std::vector<std::string> files;  ///< none: the monitors are listed
  PictureRules rules;
  PlayerOptions player;
  std::optional<double> hold_s;  ///< of the last picture; none: see --hold
  bool loop = false;
  bool skip_bad = false;
  bool keep_safe = false;
  ConsoleOptions console;
  GivenOptions given;
};

/// Options of the command, bound to the job.
std::vector<OptionGroup> display_options(DisplayJob& job);

/// Checks what options say together, before a window opens. Throws invalid_argument naming the option.
void complete(DisplayJob& job);

int run_display(DisplayJob& job);

}  // namespace holotone::cli
