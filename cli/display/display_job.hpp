#pragma once
#include <cli/common/console.hpp>
#include <cli/display/panel_pictures.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Arguments of `holotone display`, as typed.
struct DisplayArguments {
  std::vector<std::string> files;
  std::string monitor;
  std::string fps;
  std::string hold;
  std::string refresh;
  std::string display_lut;
  std::string packed16;
  std::string bit_planes;
  std::string trigger;
  std::string settle;
  std::string safe = "4px";
  bool loop = false;
  bool centre = false;
  bool keep_pace = false;
  bool skip_bad = false;
  bool field_sequence = false;
  bool keep_safe = false;
  bool ignore_focus = false;
  ConsoleOptions console;
  GivenOptions given;  ///< of all options
};

/// Job of `holotone display`, checked as far as possible before a window opens.
struct DisplayJob {
  std::vector<std::string> files;
  PictureRules rules;
  PlayerOptions player;
  double hold_s = -1;  ///< of the last picture; negative: see --hold
  bool loop = false;
  bool skip_bad = false;
  bool keep_safe = false;
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
DisplayJob display_job(const DisplayArguments& arguments);

int run_display(const DisplayArguments& arguments);

}  // namespace holotone::cli
