#pragma once
#include <cli/panel/panel_job.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// A phase pattern on the grid of a job.
struct PhasePattern {
  std::string name;  ///< "lens"
  Flags options;     ///< as typed
  std::function<Array<float, 2>(const FieldGrid&, const RowRange&)> turns;
  nlohmann::json facts = nlohmann::json::object();  ///< own keys of --json
  std::string warning;                              ///< empty: none
  std::optional<double> focal_length_m;             ///< of a lens
};

/// Makes the pattern, adds the holograms of --add, writes the codes and reports. Returns the exit code.
int run_phase_pattern(PanelPictureArguments& arguments, const std::function<PhasePattern(const FieldGrid&)>& make);

/// Command of a phase pattern, `own` its rows.
Command phase_pattern_command(std::string_view name, std::string_view purpose, std::vector<std::string_view> examples,
                              std::vector<OptionRow> own, PanelPictureArguments& shared, std::function<int()> run);

/// Text of a pattern for metadata: "lens --focal-length 250mm".
std::string pattern_text(const std::string& name, const Flags& options);

}  // namespace holotone::cli
