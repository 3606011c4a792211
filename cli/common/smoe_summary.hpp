#pragma once
#include <cli/common/console.hpp>
#include <cli/common/smoe_file.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

// Summary of a model's file, as `info` and `smoe info` report it. `pixels`: number in all captured views; none:
// unknown.
namespace holotone::cli {

/// Pixels of a model of one picture; none for a light field, whose file does not store the number of views.
std::optional<double> own_pixels(const SmoeModel& model);

/// Summary for --json.
nlohmann::json model_json(const std::string& path, const MixtureFile& stored, std::optional<double> pixels);

/// Reports the summary as lines.
void report_model(const ConsoleOptions& console, const std::string& path, const MixtureFile& stored,
                  std::optional<double> pixels);

/// Reports one more line of the summary.
void report_model_line(const ConsoleOptions& console, std::string_view name, std::string_view text);

}  // namespace holotone::cli
