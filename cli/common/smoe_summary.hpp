#pragma once
#include <cli/common/console.hpp>
#include <cli/common/smoe_file.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

// What a model's file holds, as `info` and `smoe info` report it. `pixels`: of all captured views; none: not known.
namespace holotone::cli {

/// Pixels of a model of one picture; nothing of a light field, whose file does not say how many views there were.
std::optional<double> own_pixels(const SmoeModel& model);

/// For --json.
nlohmann::json model_json(const std::string& path, const StoredModel& stored, std::optional<double> pixels);

/// As lines.
void report_model(const ConsoleOptions& console, const std::string& path, const StoredModel& stored,
                  std::optional<double> pixels);

/// One more of these lines.
void report_model_line(const ConsoleOptions& console, std::string_view name, std::string_view text);

}  // namespace holotone::cli
