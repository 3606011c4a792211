#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/hologram/common/hologram_encoder.hpp>
#include <cli/hologram/layers/layers_picture.hpp>
#include <cli/hologram/layers/layers_run.hpp>
#include <cmath>
#include <holotone/recipes/metadata_keys.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// What one written hologram was.
struct LayerRow {
  std::size_t channel = 0;
  std::string output;
  std::size_t layers = 0;  ///< that hold a pixel
  double beyond = 0;       ///< of the picture that has most of it
  bool dark = false;
  double compute_s = 0;
  Flags reconstruct_flags;
};

std::string output_of(const LayerJob& job, std::size_t channel) {
  const auto& name = job.hologram.channels[channel].name;
  return name.empty() ? job.hologram.output : channel_path(job.hologram.output, name);
}

void check_names(const LayerJob& job) {
  const auto& output = job.hologram.output;
  require_known_counters("--output", output, job.hologram.channels.size() > 1);
  if (frame_pattern("--output", output)) reject("--output", "a name without a counter for one picture", output);
  std::vector<InputFile> inputs{{"--correction", job.hologram.correction}, {"--lut", job.hologram.lut}};
  for (const auto& picture : job.pictures) {
    require_input(picture.image);
    inputs.push_back({job.pictures.size() == 1 ? "--image" : "--stack", picture.image});
    if (picture.depth.empty()) continue;
    require_input(picture.depth);
    inputs.push_back({"--depth", picture.depth});
  }
  const auto name = [&](std::int64_t i) { return output_of(job, static_cast<std::size_t>(i)); };
  require_outputs({{"--output", static_cast<std::int64_t>(job.hologram.channels.size()), name}}, inputs);
}

std::string name_of(const LayerJob& job) {
  const auto& first = job.pictures.front().image;
  return job.pictures.size() == 1 ? first : fmt::format("{} to {}", first, job.pictures.back().image);
}

Metadata stack_metadata(const std::vector<SlicedPicture>& sliced) {
  std::vector<double> distances;
  distances.reserve(sliced.size());
  for (const auto& one : sliced) distances.push_back(one.distance_m.front());
  const auto [near, far] = std::ranges::minmax(distances);
  return {{"distance_m", number_text(std::stod(fmt::format("{:.6g}", (near + far) / 2)))},
          {"distance_min_m", number_text(near)},
          {"distance_max_m", number_text(far)},
          {"layers", std::to_string(sliced.size())}};
}

std::vector<Layer> stack_of(const std::vector<SlicedPicture>& sliced) {
  std::vector<Layer> stack;
  stack.reserve(sliced.size());
  for (const auto& one : sliced) stack.push_back({one.intensity.view(), {}, one.distance_m.front()});
  return stack;
}

/// From pictures to files, one channel after the other.
class LayerWork {
 public:
  explicit LayerWork(const LayerJob& job) : job_(job) {
    for (const auto& picture : job.pictures) pictures_.push_back(read_picture(picture, job.hologram.channels));
    bool dark = true;
    for (std::size_t c = 0; c < job.hologram.channels.size(); ++c) dark = dark && is_dark(c);
    if (dark && !job.hologram.complex_field) throw_io(name_of(job), "a picture with some light", "a black one");
  }

  std::vector<LayerRow> operator()() {
    const UnfinishedRun run;
    const Queue queue = Queue::create(job_.hologram.device);
    ProgressBar bar(job_.hologram.console);
    std::vector<LayerRow> rows;
    for (std::size_t c = 0; c < job_.hologram.channels.size(); ++c) rows.push_back(make(c, queue, bar));
    check_cancelled("writing");
    UnfinishedRun::keep();
    return rows;
  }

  [[nodiscard]] const std::vector<DepthPicture>& pictures() const { return pictures_; }

 private:
  LayerRow make(std::size_t c, const Queue& queue, Progress& progress) {
    const Stopwatch watch;
    const auto& channel = job_.hologram.channels[c];
    const FieldGrid grid = job_.hologram.grid(channel);
    const auto sliced = sliced_for(c, grid);
    Array<Complex, 2> field(grid.shape(), queue);
    {
      LayerPlan plan({grid, job_.phase, job_.hologram.scene.seed}, queue);
      if (sliced.size() == 1) {
        plan.set_picture(sliced.front());
      } else {
        plan.set_layers(stack_of(sliced));
      }
      plan.execute(field.view(), progress);
      queue.synchronize();
    }
    MadeHologram made;
    HologramEncoder encoder(job_.hologram, channel, queue);
    encoder.encode(field.view(), made);
    made.output = output_of(job_, c);
    auto& metadata = made.metadata();
    metadata = metadata_of(channel, sliced);
    encoder.describe(metadata);
    LayerRow row{c, made.output, 0, 0, is_dark(c), watch.seconds(), {}};
    for (const auto& one : sliced) {
      row.layers += one.distance_m.size();
      row.beyond = std::max(row.beyond, one.beyond);
    }
    const auto& typed = job_.hologram;
    row.reconstruct_flags =
        flags_for(typed.output, metadata, {typed.lut, typed.phase_range, typed.reference_angle, typed.carrier});
    check_cancelled("writing");
    UnfinishedRun::will_write(made.output);
    write_hologram(made);
    return row;
  }

  [[nodiscard]] std::vector<SlicedPicture> sliced_for(std::size_t channel, const FieldGrid& grid) const {
    std::vector<SlicedPicture> sliced;
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      sliced.push_back(slice_picture(pictures_[i].channel(job_.pictures[i], channel), grid));
    }
    return sliced;
  }

  [[nodiscard]] bool is_dark(std::size_t channel) const {
    return std::ranges::all_of(pictures_, [&](const auto& picture) { return picture.dark[channel]; });
  }

  [[nodiscard]] Metadata metadata_of(const Channel& channel, const std::vector<SlicedPicture>& sliced) const {
    Metadata metadata = panel_metadata(job_.hologram.panel, channel);
    metadata.merge(sliced.size() == 1 ? depth_metadata(pictures_.front(), sliced.front()) : stack_metadata(sliced));
    set_metadata(metadata, "phase", to_string(job_.phase));
    set_metadata(metadata, "seed", std::to_string(job_.hologram.scene.seed));
    double energy = 0;
    for (const auto& one : sliced) {
      for (const float value : one.intensity.host()) energy += static_cast<double>(value);
    }
    set_metadata(metadata, "object_energy", fmt::format("{:.9g}", energy));
    return metadata;
  }

  const LayerJob& job_;
  std::vector<DepthPicture> pictures_;
};

/// From the nearest to the farthest thing.
std::pair<double, double> range_of(const std::vector<DepthPicture>& pictures) {
  std::pair range{pictures.front().depth.nearest_m, pictures.front().depth.farthest_m};
  for (const auto& picture : pictures) {
    range = {std::min(range.first, picture.depth.nearest_m), std::max(range.second, picture.depth.farthest_m)};
  }
  return range;
}

std::vector<std::string> warnings_of(const LayerJob& job, const std::vector<LayerRow>& rows,
                                     const std::vector<DepthPicture>& pictures) {
  constexpr double worth_a_word = 0.005;
  std::vector<std::string> warnings;
  for (const auto& row : rows) {
    if (row.dark) warnings.push_back(fmt::format("{} holds no light: {} has none of it", row.output, name_of(job)));
  }
  if (const double beyond = rows.front().beyond; beyond >= worth_a_word) {
    const auto& panel = job.hologram.panel;
    warnings.push_back(
        fmt::format("{:.0f} % of {} lies beyond the panel's edges and is not shown: --size is {}, the panel {} x {}",
                    100 * beyond, name_of(job), format_length(job.pictures.front().size_m),
                    format_length(static_cast<double>(panel.nx) * panel.pitch_m),
                    format_length(static_cast<double>(panel.ny) * panel.pitch_m)));
  }
  if (pictures.size() == 1) {  // the distances of a stack were typed
    auto words = far_warning(job.pictures.front(), pictures.front().depth, job.hologram.panel);
    if (!words.empty()) warnings.push_back(std::move(words));
  }
  for (const auto& channel : job.hologram.channels) {
    if (auto words = wavelength_warning(channel.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  }
  return warnings;
}

/// The flags that files of this format cannot say of themselves; empty if they can.
std::string flags_line(const std::vector<LayerRow>& rows) {
  if (rows.front().reconstruct_flags.empty()) return {};
  std::vector<Flags> flags;
  flags.reserve(rows.size());
  for (const auto& row : rows) flags.push_back(row.reconstruct_flags);
  return line_of(merged(flags));
}

nlohmann::json json_of(const LayerJob& job, const LayerWork& work, const std::vector<LayerRow>& rows, double seconds) {
  const auto& hologram = job.hologram;
  nlohmann::json object;
  if (job.pictures.size() == 1) {
    object = depth_facts(job.pictures.front(), work.pictures().front(), rows.front().layers);
    object["input"] = job.pictures.front().image;
  } else {
    const auto [near, far] = range_of(work.pictures());
    object = {{"layers", rows.front().layers}, {"distance_min_m", near}, {"distance_max_m", far}};
    for (const auto& picture : job.pictures) object["inputs"].push_back(picture.image);
  }
  object.update({{"beyond", rows.front().beyond},
                 {"phase", to_string(job.phase)},
                 {"seed", hologram.scene.seed},
                 {"software", "holotone " HOLOTONE_VERSION},
                 {"device", to_string(hologram.device)},
                 {"panel", hologram.panel.name},
                 {"resolution", {hologram.panel.nx, hologram.panel.ny}},
                 {"pitch_m", hologram.panel.pitch_m},
                 {"wavelength_m", hologram.channels.front().wavelength_m},
                 {"encoding", hologram.complex_field ? "complex" : std::string(to_string(hologram.encode.encoding))},
                 {"time_s", seconds},
                 {"warnings", warnings_of(job, rows, work.pictures())},
                 {"outputs", nlohmann::json::array()},
                 {"holograms", nlohmann::json::array()}});
  if (const auto flags = flags_line(rows); !flags.empty()) object["reconstruct_flags"] = flags;
  for (const auto& row : rows) {
    const auto& channel = hologram.channels[row.channel];
    nlohmann::json one{{"output", row.output}, {"wavelength_m", channel.wavelength_m}, {"compute_s", row.compute_s}};
    if (!channel.name.empty()) one["channel"] = channel.name;
    object["outputs"].push_back(row.output);
    object["holograms"].push_back(one);
  }
  return object;
}

void tell(const LayerJob& job, const LayerWork& work, const std::vector<LayerRow>& rows, double seconds) {
  const auto& console = job.hologram.console;
  for (const auto& warning : warnings_of(job, rows, work.pictures())) warn(console, warning);
  if (const auto flags = flags_line(rows); !flags.empty()) {
    std::string files;
    for (const auto& row : rows) files += (files.empty() ? "" : " ") + row.output;
    remark(console, no_metadata_remark(job.hologram.output, files, flags, false));
  }
  if (const auto words = holes_remark(job.pictures.front(), work.pictures().front().depth); !words.empty()) {
    remark(console, words);
  }
  const auto [near, far] = range_of(work.pictures());
  const std::string what = rows.size() == 1 ? rows.front().output : rows.front().output + " to " + rows.back().output;
  const auto& panel = job.hologram.panel;
  report(console, fmt::format("{}: {} x {} pixels, {} from {} to {} on {}, {}", what, panel.nx, panel.ny,
                              counted(static_cast<std::int64_t>(rows.front().layers), "layer"),
                              format_length(std::stod(fmt::format("{:.4g}", near))),
                              format_length(std::stod(fmt::format("{:.4g}", far))), to_string(job.hologram.device),
                              format_duration(seconds)));
}

}  // namespace

int run_layers(const HologramArguments& arguments, const LayerArguments& layers) {
  const Stopwatch watch;
  const LayerJob job = layer_job(arguments, layers);
  check_names(job);
  LayerWork work(job);
  const auto rows = work();
  report_json(job.hologram.console, json_of(job, work, rows, watch.seconds()));
  tell(job, work, rows, watch.seconds());
  return exit_ok;
}

}  // namespace holotone::cli
