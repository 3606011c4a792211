#pragma once
#include <cli/panel/panel_job.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// A phase pattern on the grid of a job.
struct PhasePattern {
  std::string name{};  ///< "lens"; set by phase_pattern_command, as the options
  Flags options{};     ///< as typed
  std::function<Array<float, 2>(const FieldGrid&, const RowRange&)> turns;
  nlohmann::json facts = nlohmann::json::object();  ///< own keys of --json
  std::string warning;                              ///< empty: none
  std::optional<double> focal_length_m;             ///< of a lens
};

using MakePattern = std::function<PhasePattern(const FieldGrid&)>;

/// Command of a phase pattern, `own` its rows. It makes the pattern, adds the holograms of --add, writes the codes and
/// reports. `make` keeps `shared` alive.
Command phase_pattern_command(std::string_view name, std::string_view purpose, std::vector<std::string_view> examples,
                              std::vector<OptionRow> pattern_rows, PanelPictureJob& shared, MakePattern make);

template <class Job>
Command phase_pattern_command(std::string_view name, std::string_view purpose, std::vector<std::string_view> examples,
                              std::vector<OptionRow> pattern_rows, const std::shared_ptr<Job>& job,
                              PhasePattern (*make)(const Job&, const FieldGrid&)) {
  return phase_pattern_command(name, purpose, std::move(examples), std::move(pattern_rows), job->shared,
                               [job, make](const FieldGrid& grid) { return make(*job, grid); });
}

/// Text of a pattern for metadata: "lens --focal-length 250mm".
std::string pattern_text(const std::string& name, const Flags& options);

}  // namespace holotone::cli
