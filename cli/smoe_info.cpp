#include "console.hpp"
#include "paths.hpp"
#include "smoe_command.hpp"
#include "smoe_picture.hpp"
#include "values.hpp"
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct SmoeInfoArguments {
  std::string input;
  std::string against;
  std::string view;
  ConsoleOptions console;
};

/// PSNR of the model against an image of its size, in the image's codes.
double psnr_against(const SmoeInfoArguments& arguments, const SmoeModel& model) {
  const Image image = read_image(arguments.against);
  const auto shape = shape_of(image);
  if (shape[2] != model.channels) {
    throw_io(arguments.against, fmt::format("{}, as the model has", counted(model.channels, "channel")),
             std::to_string(shape[2]));
  }
  SmoeRenderer renderer(model);
  const auto colours = rendered(renderer, {{shape[0], shape[1]}, {}, {}, view_of(model, arguments.view)});
  if (std::holds_alternative<Array<float, 3>>(image.pixels)) return psnr_of(colours, to_float(image));
  const int bits = std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels) ? 8 : 16;
  return psnr_of(to_float(coded(colours, model.linear, bits)), to_float(image));
}

nlohmann::json steps_json(const SmoeFileInfo& info) {
  const auto& steps = info.steps;
  return {{"centre", std::vector<double>(steps.centre.begin(), steps.centre.begin() + info.dimensions)},
          {"shape", steps.shape},
          {"skew", steps.skew},
          {"weight", steps.weight},
          {"colour", steps.colour},
          {"chroma", steps.chroma},
          {"slope", steps.slope},
          {"slope_chroma", steps.slope_chroma},
          {"area_gain", steps.area_gain}};
}

std::string box_text(const SmoeModel& model) {
  std::string text;
  for (int axis = 0; axis < model.dimensions; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    text += fmt::format("{}{} {:g} to {:g}", axis == 0 ? "" : ", ", "xyuv"[a], model.low[a], model.high[a]);
  }
  return text;
}

std::string steps_text(const SmoeFileInfo& info) {
  const auto& s = info.steps;
  return fmt::format(
      "centre {:.3g}, log2 of deviations {:.3g}, skew {:.3g}, weight {:.3g}, colour {:.3g} and {:.3g}, slope {:.3g} "
      "and {:.3g}",
      fmt::join(s.centre.begin(), s.centre.begin() + info.dimensions, " "), s.shape, s.skew, s.weight, s.colour,
      s.chroma, s.slope, s.slope_chroma);
}

int run_smoe_info(const SmoeInfoArguments& arguments) {
  require_input(arguments.input);
  if (!arguments.against.empty()) require_input(arguments.against);
  if (!arguments.view.empty() && arguments.against.empty()) reject("--view", "--against beside it", arguments.view);
  const StoredModel stored = read_model(arguments.input);
  const SmoeModel& model = stored.model;
  const double bits = 8 * static_cast<double>(stored.bytes);
  const auto size = own_size(model);
  const double pixels = model.dimensions < 2 ? static_cast<double>(size[1]) : static_cast<double>(size[0] * size[1]);
  const std::string_view kind = model.dimensions == 4 ? "light field" : model.dimensions == 2 ? "picture" : "model";
  const auto& console = arguments.console;
  const auto line = [&](std::string_view name, const std::string& text) {
    report(console, fmt::format("  {:<22} {}", name, text));
  };
  nlohmann::json object{{"file", arguments.input},
                        {"kind", "smoe"},
                        {"dimensions", model.dimensions},
                        {"channels", model.channels},
                        {"linear", model.linear},
                        {"components", model.count()},
                        {"low", std::vector<double>(model.low.begin(), model.low.begin() + model.dimensions)},
                        {"high", std::vector<double>(model.high.begin(), model.high.begin() + model.dimensions)},
                        {"bytes", stored.bytes},
                        {"bits_per_component", bits / static_cast<double>(model.count())},
                        {"bits_per_pixel", bits / pixels}};
  std::optional<double> psnr;
  if (!arguments.against.empty()) psnr = psnr_against(arguments, model);
  report(console,
         fmt::format("{}: {} as a mixture of {}, {}{}", arguments.input, kind, counted(model.count(), "component"),
                     counted(model.channels, "channel"), model.linear ? ", linear light" : ""));
  line("box", box_text(model));
  line("bytes", fmt::format("{}, {:.4g} bits a component", stored.bytes, bits / static_cast<double>(model.count())));
  line(model.dimensions > 2 ? "bits a pixel of a view" : "bits a pixel", fmt::format("{:.4g}", bits / pixels));
  if (stored.info) {
    object["lossless"] = stored.info->lossless;
    object["version"] = stored.info->version;
    line("numbers", stored.info->lossless ? "exact" : "in steps: " + steps_text(*stored.info));
    if (!stored.info->lossless) object["steps"] = steps_json(*stored.info);
  }
  if (psnr) {
    line("PSNR", std::isinf(*psnr) ? "equal" : fmt::format("{:.3f} dB against {}", *psnr, arguments.against));
    object["against"] = arguments.against;
    object["psnr_db"] = *psnr;
  }
  report_json(console, object);
  return exit_ok;
}

}  // namespace

void tell_model(const std::string& path, const ConsoleOptions& console) {
  run_smoe_info({.input = path, .against = {}, .view = {}, .console = console});
}

void add_smoe_info(CLI::App& smoe, Action& action) {
  const auto arguments = std::make_shared<SmoeInfoArguments>();
  auto* command = smoe.add_subcommand("info", "Components, bytes, bits a pixel and steps of a model, and its PSNR");
  command->add_option("FILE", arguments->input, "A model: .smoe, .json or .npz")->required();
  command->add_option("--against", arguments->against, "The picture it was made of: tells the PSNR in its codes");
  command->add_option("--view", arguments->view, "U,V of that picture in a light field; default: the middle");
  add_console_options(*command, arguments->console);
  command->callback([arguments, &action] { action = [arguments] { return run_smoe_info(*arguments); }; });
}

}  // namespace holotone::cli
