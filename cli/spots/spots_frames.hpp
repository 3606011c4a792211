#pragma once
#include <cli/common/console.hpp>
#include <cli/common/monitor_output.hpp>
#include <cli/common/output_check.hpp>
#include <functional>
#include <holotone/recipes/spot_motion.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Spots that move, in place of a list.
struct MotionChoice {
  std::string trajectory;
  SpotFrameOptions frames;
  SpotMotionOptions motion;
  std::string response;  ///< file of a panel's relaxation
};

/// --trajectory and what goes with it.
std::vector<OptionRow> motion_options(MotionChoice& choice);

/// A job of moving spots: what of `holotone spots` it takes.
struct SpotFramesJob {
  const ConsoleOptions& console;
  MotionChoice& motion;
  std::string output;              ///< with a counter
  MonitorOutput* shown = nullptr;  ///< what it names, if it is a monitor
  std::string table;
  double unit_m = 0;
  SpotOptions lens;
  Device device;
  SpotSteps steps;
  EncodeOptions encoding;
  View<const Complex, 2> light;
  std::vector<InputFile> inputs;
  std::function<void(const std::string&, View<const std::uint16_t, 2>)> write;
  std::function<nlohmann::json()> describe;  ///< of the panel and the lens
};
int run_spot_frames(const SpotFramesJob& job);

}  // namespace holotone::cli
