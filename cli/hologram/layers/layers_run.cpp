#include <algorithm>
#include <array>
#include <cli/common/cancel.hpp>
#include <cli/common/code_levels.hpp>
#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_encoder.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/layers/layers_picture.hpp>
#include <cli/hologram/layers/layers_run.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/panel_limits.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// Record of one written hologram.
struct LayerRecord {
  std::size_t channel = 0;
  std::string output;
  std::size_t layers = 0;  ///< layers with pixels
  double beyond = 0;       ///< largest share of a picture beyond the panel's edges
  double compute_s = 0;
  Flags reconstruct_flags;
  std::array<double, 2> layers_m{};  ///< nearest and farthest layer
};

std::string output_path(const LayerJob& job, std::size_t channel) {
  const auto& name = job.hologram.channels[channel].name;
  return name.empty() || job.hologram.shown ? job.hologram.output : channel_path(job.hologram.output, name);
}

void check_names(const LayerJob& job) {
  const auto& output = job.hologram.output;
  require_known_counters(output, job.hologram.channels.size() > 1);
  if (frame_pattern(output)) reject_output("a name without a counter for one picture", output);
  auto inputs = code_inputs(job.hologram.lut, job.hologram.correction);
  for (const auto& picture : job.pictures) {
    io::require_input(picture.image);
    inputs.push_back({job.pictures.size() == 1 ? "--image" : "--stack", picture.image});
    if (picture.depth.empty()) continue;
    io::require_input(picture.depth);
    inputs.push_back({"--depth", picture.depth});
  }
  const auto name = [&](std::int64_t i) { return output_path(job, static_cast<std::size_t>(i)); };
  if (job.hologram.shown) return;
  require_outputs({{output_name, static_cast<std::int64_t>(job.hologram.channels.size()), name}}, inputs);
}

std::string file_name(const LayerJob& job) {
  const auto& first = job.pictures.front().image;
  return job.pictures.size() == 1 ? first : fmt::format("{} to {}", first, job.pictures.back().image);
}

Metadata stack_metadata(const std::vector<SlicedPicture>& sliced) {
  std::vector<double> distances;
  distances.reserve(sliced.size());
  // Six digits: float32 distances carry no more.
  for (const auto& one : sliced) distances.push_back(std::stod(fmt::format("{:.6g}", one.distance_m.front())));
  const auto [near, far] = std::ranges::minmax(distances);
  Metadata metadata;
  set_metadata(metadata, "distance_m", distances.front());
  set_metadata(metadata, "distances_m", distances);
  set_metadata(metadata, "distance_min_m", near);
  set_metadata(metadata, "distance_max_m", far);
  set_metadata(metadata, "layers", static_cast<double>(sliced.size()));
  return metadata;
}

std::vector<Layer> stack_of(const std::vector<SlicedPicture>& sliced) {
  std::vector<Layer> stack;
  stack.reserve(sliced.size());
  for (const auto& one : sliced) stack.push_back({one.intensity.view(), {}, one.distance_m.front()});
  return stack;
}

/// Warning that 0.5 % or more of a picture lies beyond the panel's edges; else empty.
std::string beyond_warning(const LayerJob& job, double beyond) {
  constexpr double reported_share = 0.005;
  if (beyond < reported_share) return {};
  const auto& panel = job.hologram.panel;
  return fmt::format("{:.0f} % of {} lies beyond the panel's edges and is not shown: --size is {}, the panel {} x {}",
                     100 * beyond, file_name(job), format_length(job.pictures.front().size_m),
                     format_length(static_cast<double>(panel.nx) * panel.pitch_m),
                     format_length(static_cast<double>(panel.ny) * panel.pitch_m));
}

/// Computes and writes the holograms of pictures, one channel after the other.
class LayerWork {
 public:
  explicit LayerWork(const LayerJob& job) : job_(job) {
    const auto& hologram = job.hologram;
    for (const auto& picture : job.pictures)
      pictures_.push_back(read_picture(hologram.console, picture, hologram.channels));
    bool dark = true;
    for (std::size_t c = 0; c < job.hologram.channels.size(); ++c) dark = dark && is_dark(c);
    if (dark && !job.hologram.complex_field) throw_io(file_name(job), "a picture with some light", "a black one");
  }

  std::vector<LayerRecord> operator()() {
    const UnfinishedRun run;
    const Queue queue = Queue::create(job_.hologram.device);
    ProgressBar bar(job_.hologram.console);
    std::vector<LayerRecord> rows;
    for (std::size_t c = 0; c < job_.hologram.channels.size(); ++c) rows.push_back(make(c, queue, bar));
    check_cancelled("writing");
    UnfinishedRun::keep();
    return rows;
  }

  [[nodiscard]] const std::vector<DepthPicture>& pictures() const { return pictures_; }
  /// True if no picture has light of this channel's colour.
  [[nodiscard]] bool is_dark(std::size_t channel) const {
    return std::ranges::all_of(pictures_, [&](const auto& picture) { return picture.dark[channel]; });
  }

 private:
  LayerRecord make(std::size_t c, const Queue& queue, Progress& progress) {
    const Stopwatch watch;
    const auto& channel = job_.hologram.channels[c];
    const FieldGrid grid = job_.hologram.grid(channel);
    const auto sliced = sliced_for(c, grid);
    double beyond = 0;
    for (const auto& one : sliced) beyond = std::max(beyond, one.beyond);
    if (const auto words = beyond_warning(job_, beyond); c == 0 && !words.empty()) {
      warn(job_.hologram.console, words);
    }
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
    made.output = output_path(job_, c);
    auto& metadata = made.metadata();
    metadata = make_metadata(channel, sliced);
    encoder.describe(metadata);
    LayerRecord row{c, made.output, 0, beyond, watch.seconds(), {}, {}};
    row.layers_m.fill(sliced.front().distance_m.front());
    for (const auto& one : sliced) {
      const auto [near, far] = std::ranges::minmax(one.distance_m);
      row.layers_m = {std::min(row.layers_m[0], near), std::max(row.layers_m[1], far)};
      row.layers += one.distance_m.size();
    }
    const auto& typed = job_.hologram;
    row.reconstruct_flags = flags_for(
        typed.output, metadata,
        {typed.lut, typed.phase_range_rad.text, typed.reference_angle_rad.text, typed.carrier, typed.lut_unit});
    check_cancelled("writing");
    put_out(typed, c, made);
    return row;
  }

  [[nodiscard]] std::vector<SlicedPicture> sliced_for(std::size_t channel, const FieldGrid& grid) const {
    std::vector<SlicedPicture> sliced;
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      sliced.push_back(slice_picture(pictures_[i].channel(job_.pictures[i], channel), grid));
    }
    return sliced;
  }

  [[nodiscard]] Metadata make_metadata(const Channel& channel, const std::vector<SlicedPicture>& sliced) const {
    Metadata metadata = panel_metadata(job_.hologram.panel, channel);
    metadata.merge(sliced.size() == 1 ? depth_metadata(pictures_.front(), sliced.front()) : stack_metadata(sliced));
    const auto picture = pictures_.front().channel(job_.pictures.front(), 0);
    if (const auto region = find_region(picture, job_.hologram.grid(channel))) {
      set_metadata(metadata, "signal_region", region_numbers(*region));
    }
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

/// Distances of the nearest and the farthest pixel of all pictures.
std::pair<double, double> find_range(const std::vector<DepthPicture>& pictures) {
  std::pair range{pictures.front().depth.nearest_m, pictures.front().depth.farthest_m};
  for (const auto& picture : pictures) {
    range = {std::min(range.first, picture.depth.nearest_m), std::max(range.second, picture.depth.farthest_m)};
  }
  return range;
}

/// Warnings known once the pictures are read.
std::vector<std::string> early_warnings(const LayerJob& job, const LayerWork& work) {
  std::vector<std::string> warnings;
  for (std::size_t c = 0; c < job.hologram.channels.size(); ++c) {
    if (!work.is_dark(c)) continue;
    warnings.push_back(
        fmt::format("{} holds no light: {} has none of this colour", output_path(job, c), file_name(job)));
  }
  if (work.pictures().size() == 1) {  // the distances of a stack were typed
    auto words = far_warning(job.pictures.front(), work.pictures().front().depth, job.hologram.panel);
    if (!words.empty()) warnings.push_back(std::move(words));
  }
  std::ranges::move(unit_warnings(job.hologram), std::back_inserter(warnings));
  return warnings;
}

/// Remark on a tint of white. Layers emit all light of a pixel, each colour into its own cone: docs/holograms.md,
/// Colours.
std::string tint_remark(const LayerJob& job, const std::vector<DepthPicture>& pictures) {
  if (job.hologram.channels.size() < 3 || job.phase != LayerPhase::random) return {};
  constexpr double white = 0.03;
  const auto& panel = job.hologram.panel;
  const FieldGrid grid = job.hologram.grid(job.hologram.channels.front());
  std::vector<double> wavelengths_m;
  for (const auto& channel : job.hologram.channels) wavelengths_m.push_back(channel.wavelength_m);
  const double longest = std::ranges::max(wavelengths_m);
  double worst = 0;
  double clear_m = 1e300;  // largest distance at which all light of the longest wavelength meets the panel
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const auto [ny, nx] = pictures[i].intensity.front().shape();
    const double scale = job.pictures[i].size_m / static_cast<double>(std::max(nx, ny));
    const std::array<double, 2> size_m{scale * static_cast<double>(nx), scale * static_cast<double>(ny)};
    worst = std::max(worst, white_tint(grid, wavelengths_m, size_m, pictures[i].depth.farthest_m));
    const double margin = std::min(static_cast<double>(panel.nx) * panel.pitch_m - size_m[0],
                                   static_cast<double>(panel.ny) * panel.pitch_m - size_m[1]);
    clear_m = std::min(clear_m, margin * panel.pitch_m / longest);
  }
  if (worst < white) return {};
  const std::string remedy = clear_m > 0 ? fmt::format("; within {} of the panel white is white",
                                                       format_length(std::stod(fmt::format("{:.2g}", 0.99 * clear_m))))
                                         : std::string("; a smaller --size and --distance tint it less");
  return fmt::format(
      "note: white is tinted by up to {:.0f} % over the picture: the panel cuts off more of the light of long waves, "
      "which spreads farther{}",
      100 * worst, remedy);
}

/// Flags for the metadata that files of this format do not store; empty if they store all.
std::string flags_line(const std::vector<LayerRecord>& rows) {
  if (rows.front().reconstruct_flags.empty()) return {};
  std::vector<Flags> flags;
  flags.reserve(rows.size());
  for (const auto& row : rows) flags.push_back(row.reconstruct_flags);
  return line_of(merged(flags));
}

nlohmann::json make_json(const LayerJob& job, const LayerWork& work, const std::vector<LayerRecord>& rows,
                         double seconds) {
  const auto& hologram = job.hologram;
  nlohmann::json object;
  if (job.pictures.size() == 1) {
    object = depth_facts(job.pictures.front(), work.pictures().front(), rows.front().layers);
    object["input"] = job.pictures.front().image;
  } else {
    const auto [near, far] = find_range(work.pictures());
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

/// "19.67 cm to 20.33 cm": six digits, as info prints them.
std::string span_text(double near_m, double far_m) {
  const auto text = [](double metres) { return format_length(std::stod(fmt::format("{:.6g}", metres))); };
  return text(near_m) == text(far_m) ? text(near_m) : fmt::format("{} to {}", text(near_m), text(far_m));
}

void tell(const LayerJob& job, const LayerWork& work, const std::vector<LayerRecord>& rows, double seconds) {
  const auto& console = job.hologram.console;
  if (!job.hologram.complex_field)
    remark_few_bits(console, job.hologram.encode.bits, job.hologram.writing, job.hologram.output);
  if (const auto flags = flags_line(rows); !flags.empty()) {
    std::string files;
    for (const auto& row : rows) files += (files.empty() ? "" : " ") + row.output;
    remark(console, no_metadata_remark(job.hologram.output, files, flags, false));
  }
  const auto [near, far] = find_range(work.pictures());
  const std::string what = rows.front().output == rows.back().output
                               ? rows.front().output
                               : rows.front().output + " to " + rows.back().output;
  const auto& panel = job.hologram.panel;
  const auto& layers_m = rows.front().layers_m;
  report(console, fmt::format("{}: {} x {} pixels, {} at {} (scene {}) on {}, {}", what, panel.nx, panel.ny,
                              counted(static_cast<std::int64_t>(rows.front().layers), "layer"),
                              span_text(layers_m[0], layers_m[1]), span_text(near, far), to_string(job.hologram.device),
                              format_duration(seconds)));
}

}  // namespace

int run_layers(SceneJob& scene) {
  const Stopwatch watch;
  const LayerJob job = layer_job(scene);
  require_one_device(job.hologram.devices, "--hogel, which several devices compute, or one device",
                     job.hologram.output);
  check_names(job);
  LayerWork work(job);
  // Before the waves are computed, which may take minutes.
  for (const auto& warning : early_warnings(job, work)) warn(job.hologram.console, warning);
  if (const auto words = tint_remark(job, work.pictures()); !words.empty()) remark(job.hologram.console, words);
  if (job.hologram.shown) job.hologram.shown->open();
  const auto rows = work();
  report_json(job.hologram.console, make_json(job, work, rows, watch.seconds()));
  tell(job, work, rows, watch.seconds());
  return job.hologram.shown ? until_closed([&] { job.hologram.shown->play(false); }) : exit_ok;
}

}  // namespace holotone::cli
