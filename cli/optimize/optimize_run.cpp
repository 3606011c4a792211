#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_encoder.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/picture_light.hpp>
#include <cli/common/target_picture.hpp>
#include <cli/optimize/optimize_run.hpp>
#include <cmath>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <nlohmann/json.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

struct OptimizeJob {
  HologramJob hologram;
  double distance_m = 0;
  double region = 1;  ///< part of the panel's width and height
  bool random = false;
  int iterations = 0;
};

/// Record of one written hologram.
struct OptimizedRow {
  std::string output;
  double wavelength_m = 0;
  RetrievalResult result;
  RetrievalQuality quality;  ///< of the phases that the codes show
};

OptimizeJob optimize_job(const OptimizeArguments& arguments) {
  static constexpr Choice<bool> phases[] = {{"smooth", false}, {"random", true}};
  HologramArguments hologram = arguments.hologram;
  hologram.encoding = "phase";
  OptimizeJob job;
  job.hologram = hologram_job(hologram);
  job.hologram.device = device_option(hologram.device, hologram.console, "picture to phase: retrieval");
  job.distance_m = job.hologram.scene.placement.distance_m;
  const auto percent = arguments.region.substr(0, arguments.region.find_last_not_of('%') + 1);
  job.region = number_between("--signal-region", percent, signal_region_range) / 100;
  job.random = choose("--phase", arguments.phase, phases);
  job.iterations = static_cast<int>(whole_number("--iterations", arguments.iterations, optimize_steps_range));
  return job;
}

std::string output_of(const OptimizeJob& job, const Channel& channel) {
  return channel.name.empty() ? job.hologram.output : channel_path(job.hologram.output, channel.name);
}

void check_names(const OptimizeJob& job) {
  const auto& hologram = job.hologram;
  require_known_counters("--output", hologram.output, hologram.channels.size() > 1);
  if (frame_pattern("--output", hologram.output)) {
    reject("--output", "a name without a counter for one picture", hologram.output);
  }
  require_input(hologram.input);
  const auto name = [&](std::int64_t i) { return output_of(job, hologram.channels[static_cast<std::size_t>(i)]); };
  require_outputs({{"--output", std::ssize(hologram.channels), name}}, {{"IN", hologram.input}});
}

void require_memory_for(const OptimizeJob& job) {
  constexpr double padded_bytes = 4 * (3 * 8 + 2);  // three arrays and a quarter of the transfer function
  constexpr double other_bytes = 4 * (8 + 4) + 4 * 4 + 16 * 4 + 32;  // light and targets, vectors of the solver
  const auto& panel = job.hologram.panel;
  const double pixels = static_cast<double>(panel.nx) * static_cast<double>(panel.ny);
  require_memory(panel.name == "custom" ? "--resolution" : "--panel", pixels * (padded_bytes + other_bytes),
                 fmt::format("{} x {} pixels", panel.nx, panel.ny));
}

/// The rectangle in the middle of the panel that a picture fills, keeping its proportions.
SignalRegion region_of(const OptimizeJob& job, const Shape<2>& picture) {
  const auto& panel = job.hologram.panel;
  return region_in_middle({panel.ny, panel.nx}, picture, job.region);
}

class OptimizeWork {
 public:
  explicit OptimizeWork(const OptimizeJob& job) : job_(job), image_(read_picture_file(job.hologram.input)) {}

  std::vector<OptimizedRow> operator()() {
    const UnfinishedRun run;
    ProgressBar bar(job_.hologram.console);
    std::vector<OptimizedRow> rows;
    for (const auto& channel : job_.hologram.channels) rows.push_back(make(channel, bar));
    check_cancelled("writing");
    UnfinishedRun::keep();
    return rows;
  }

  [[nodiscard]] SignalRegion region() const {
    const auto [ny, nx, channels] = shape_of(image_);
    return region_of(job_, {ny, nx});
  }

 private:
  OptimizedRow make(const Channel& channel, Progress& progress) {
    const auto& hologram = job_.hologram;
    const FieldGrid grid = hologram.grid(channel);
    PhaseRetrievalPlan plan({.grid = grid, .planes = {{.distance_m = job_.distance_m}}, .region = region()});
    plan.set_target(target_amplitude(hologram.input, image_, channel.colour, grid, region()).view());
    auto phase = starting_phase({1, grid.ny, grid.nx}, job_.random ? std::numbers::pi : 0.5, hologram.scene.seed);
    OptimizedRow row{output_of(job_, channel), channel.wavelength_m, {}, {}};
    row.result = plan.optimize(phase.view(), {.iterations = job_.iterations}, progress);
    Array<Complex, 2> field(grid.shape());
    for (std::int64_t i = 0; i < field.size(); ++i) field.data()[i] = std::polar(1.0F, phase.data()[i]);
    const auto options = hologram.encode_options(channel);
    EncodeReport report;
    const auto codes = encode(field.view(), options, grid, &report);
    const auto shown = modulation_of(codes.view(), options, grid, report);
    for (std::int64_t i = 0; i < shown.size(); ++i) phase.data()[i] = std::arg(shown.data()[i]);
    row.quality = plan.quality(phase.view())[0];
    write(channel, field, row.output);
    return row;
  }

  void write(const Channel& channel, const Array<Complex, 2>& field, const std::string& output) const {
    MadeHologram made;
    HologramEncoder encoder(job_.hologram, channel, Queue());
    encoder.encode(field.view(), made);
    made.output = output;
    auto& metadata = made.metadata();
    metadata = panel_metadata(job_.hologram.panel, channel);
    set_metadata(metadata, "distance_m", job_.distance_m);
    set_metadata(metadata, "phase", job_.random ? "random" : "smooth");
    set_metadata(metadata, "signal_region", numbers_of(region()));
    set_metadata(metadata, "seed", std::to_string(job_.hologram.scene.seed));
    encoder.describe(metadata);
    check_cancelled("writing");
    UnfinishedRun::will_write(output);
    write_hologram(made);
  }

  const OptimizeJob& job_;
  Image image_;
};

nlohmann::json json_of(const OptimizeJob& job, const SignalRegion& region, const std::vector<OptimizedRow>& rows,
                       double seconds) {
  const auto& hologram = job.hologram;
  nlohmann::json object{{"input", hologram.input},
                        {"software", "holotone " HOLOTONE_VERSION},
                        {"device", to_string(hologram.device)},
                        {"panel", hologram.panel.name},
                        {"resolution", {hologram.panel.nx, hologram.panel.ny}},
                        {"pitch_m", hologram.panel.pitch_m},
                        {"bits", hologram.encode.bits},
                        {"distance_m", job.distance_m},
                        {"signal_region", {region.column, region.row, region.columns, region.rows}},
                        {"phase", job.random ? "random" : "smooth"},
                        {"seed", hologram.scene.seed},
                        {"time_s", seconds}};
  for (const auto& row : rows) {
    object["outputs"].push_back(row.output);
    object["holograms"].push_back({{"output", row.output},
                                   {"wavelength_m", row.wavelength_m},
                                   {"iterations", row.result.iterations},
                                   {"gradients", row.result.evaluations},
                                   {"psnr_db", row.quality.psnr_db},
                                   {"psnr_worst_db", row.quality.psnr_worst_db},
                                   {"efficiency", row.quality.efficiency}});
  }
  return object;
}

}  // namespace

int run_optimize(const OptimizeArguments& arguments) {
  const Stopwatch watch;
  const OptimizeJob job = optimize_job(arguments);
  check_names(job);
  require_memory_for(job);
  for (const auto& channel : job.hologram.channels) {
    if (auto words = wavelength_warning(channel.wavelength_m); !words.empty()) warn(job.hologram.console, words);
  }
  OptimizeWork work(job);
  const auto region = work.region();
  const auto rows = work();
  report_json(job.hologram.console, json_of(job, region, rows, watch.seconds()));
  const auto& panel = job.hologram.panel;
  for (const auto& row : rows) {
    report(job.hologram.console,
           fmt::format("{}: {} x {} pixels, picture of {} x {}; {} steps on {}: {:.1f} dB at worst ({:.1f} dB at the "
                       "samples), efficiency {:.2f}, {}",
                       row.output, panel.nx, panel.ny, region.columns, region.rows, row.result.iterations,
                       to_string(job.hologram.device), row.quality.psnr_worst_db, row.quality.psnr_db,
                       row.quality.efficiency, format_duration(watch.seconds())));
  }
  return exit_ok;
}

}  // namespace holotone::cli
