#include <cli/common/smoe_summary.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

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

}  // namespace

std::optional<double> own_pixels(const SmoeModel& model) {
  if (model.dimensions > 2) return std::nullopt;
  const auto size = own_size(model);
  return static_cast<double>(model.dimensions < 2 ? size[1] : size[0] * size[1]);
}

nlohmann::json model_json(const std::string& path, const MixtureFile& stored, std::optional<double> pixels) {
  const SmoeModel& model = stored.model;
  const double bits = 8 * static_cast<double>(stored.bytes);
  nlohmann::json object{{"file", path},
                        {"kind", "smoe"},
                        {"dimensions", model.dimensions},
                        {"channels", model.channels},
                        {"linear", model.linear},
                        {"components", model.count()},
                        {"low", std::vector<double>(model.low.begin(), model.low.begin() + model.dimensions)},
                        {"high", std::vector<double>(model.high.begin(), model.high.begin() + model.dimensions)},
                        {"bytes", stored.bytes},
                        {"bits_per_component", bits / static_cast<double>(model.count())},
                        {"bits_per_pixel", pixels ? nlohmann::json(bits / *pixels) : nlohmann::json(nullptr)}};
  if (stored.info) {
    object["lossless"] = stored.info->lossless;
    object["version"] = stored.info->version;
    if (!stored.info->lossless) object["steps"] = steps_json(*stored.info);
  }
  return object;
}

void report_model(const ConsoleOptions& console, const std::string& path, const MixtureFile& stored,
                  std::optional<double> pixels) {
  const SmoeModel& model = stored.model;
  const double bits = 8 * static_cast<double>(stored.bytes);
  const auto line = [&](std::string_view name, const std::string& text) { report_model_line(console, name, text); };
  const std::string_view kind = model.dimensions > 2 ? "light field" : model.dimensions == 2 ? "picture" : "model";
  report(console, fmt::format("{}: {} as a mixture of {}, {}{}", path, kind, counted(model.count(), "component"),
                              counted(model.channels, "channel"), model.linear ? ", linear light" : ""));
  line("box", box_text(model));
  line("bytes", fmt::format("{}, {:.4g} bits a component", stored.bytes, bits / static_cast<double>(model.count())));
  line("bits a pixel",
       pixels ? fmt::format("{:.4g}", bits / *pixels) : "unknown without the views; give --against view_%v_%u.png");
  if (stored.info) line("numbers", stored.info->lossless ? "exact" : "in steps: " + steps_text(*stored.info));
}

void report_model_line(const ConsoleOptions& console, std::string_view name, std::string_view text) {
  report(console, fmt::format("  {:<22} {}", name, text));
}

}  // namespace holotone::cli
