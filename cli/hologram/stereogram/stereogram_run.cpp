#include <algorithm>
#include <cli/common/band_memory.hpp>
#include <cli/common/bands_words.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_encoder.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/stereogram/stereogram_codes.hpp>
#include <cli/hologram/stereogram/stereogram_run.hpp>
#include <cli/hologram/stereogram/stereogram_views.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cmath>
#include <holotone/io/json_text_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/stereogram_prints.hpp>
#include <nlohmann/json.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

constexpr double degrees = 180 / std::numbers::pi;

/// Record of one stereogram.
struct StereogramRecord {
  std::size_t channel = 0;
  std::string output;
  StereogramInfo info;
  StereogramReport report;
  std::int64_t resumed = 0;  ///< rows of pixels that an earlier run had made
  HogelWeights weights;      ///< statistics; codes only
  double compute_s = 0;
  BandRates rates;  ///< of files that are written by bands
};

class StereogramWork {
 public:
  explicit StereogramWork(StereogramJob& job) : job_(job) {
    const auto name = [&](std::int64_t i) { return job.output_of(job.channels[static_cast<std::size_t>(i)]); };
    // Refuses a bad window, bad hogels or bad names before the views are read.
    for (const auto& channel : job.channels) (void)StereogramPlan(job.options_for(channel));
    if (!job.shown) require_outputs({{output_name, std::ssize(job.channels), name}}, {});
    if (job.writes_rows() && job.hogel_given) {
      const std::int64_t rows = std::min(rows_at_once(), job.panel.ny);
      BandMemory::all().allocate_ahead(job.devices, static_cast<std::size_t>(rows * job.panel.nx) *
                                                        (job.codes ? sizeof(std::uint8_t) : sizeof(Complex)));
    }
    views_ = read_views(job);
    if (!job.hogel_given) job.options.hogel_px = job.hogel_for(views_.nearest_m);
    if (!job.shown) require_outputs({{output_name, std::ssize(job.channels), name}}, views_.files);
    const auto n = static_cast<double>(job.options.hogel_px);
    require_memory(
        "--hogel",
        8 * (static_cast<double>(job.encoding ? job.panel.ny : rows_at_once()) * static_cast<double>(job.panel.nx) +
             (job.device.backend == Backend::cpu ? 2 * n * n * describe(Device{}).units : 0)),
        fmt::format("hogels of {0} x {0} pixels", job.options.hogel_px));
  }

  std::vector<StereogramRecord> operator()() {
    const UnfinishedRun run;
    ProgressBar bar(job_.console);
    std::vector<StereogramRecord> rows;
    if (job_.writes_rows()) {
      rows = print(bar);
    } else {
      for (std::size_t c = 0; c < job_.channels.size(); ++c) rows.push_back(make(c, bar));
    }
    // All rows are written: a cancellation from here on keeps the file.
    UnfinishedRun::keep();
    return rows;
  }

  [[nodiscard]] const StereogramViews& views() const { return views_; }
  /// Properties of each channel's plan, with the hogel size of the views.
  [[nodiscard]] std::vector<StereogramInfo> infos() const {
    std::vector<StereogramInfo> infos;
    for (const auto& channel : job_.channels) infos.push_back(StereogramPlan(job_.options_for(channel)).info());
    return infos;
  }

 private:
  /// Number of rows of pixels written at once.
  [[nodiscard]] std::int64_t rows_at_once() const { return rows_of_hogel_bands(job_.options); }

  [[nodiscard]] StereogramRecord row_of(std::size_t c) const {
    StereogramRecord row;
    row.channel = c;
    row.output = job_.output_of(job_.channels[c]);
    return row;
  }
  [[nodiscard]] int colour_text(std::size_t c) const { return views_.source->channels() > 1 ? static_cast<int>(c) : 0; }

  /// How the codes of a channel are made, of which the metadata tell; nothing for a field.
  std::optional<HogelWeights> quantize(StereogramPrint& print, ProgressBar& bar) const {
    if (!job_.codes) return std::nullopt;
    auto weights = codes_weights(job_, print.stereogram.grid, bar);
    describe_codes(job_, weights, print.metadata);
    print.quantization = {*job_.codes, std::move(weights.weights)};
    print.quantization->options.hogel_px = job_.options.hogel_px;
    print.quantization->options.cache_folder = kernel_folder(job_.console);
    weights.weights = {};
    return weights;
  }

  [[nodiscard]] StereogramPrint print_of(std::size_t c) const {
    const auto& channel = job_.channels[c];
    StereogramPrint print{job_.output_of(channel), job_.options_for(channel), colour_text(c), std::nullopt, {},
                          make_metadata(channel)};
    print.key = print_key(print.metadata);
    return print;
  }

  std::vector<StereogramRecord> print(ProgressBar& bar) {
    std::vector<StereogramRecord> rows;
    std::vector<StereogramPrint> prints;
    for (std::size_t c = 0; c < job_.channels.size(); ++c) {
      const Stopwatch watch;
      auto& row = rows.emplace_back(row_of(c));
      if (auto weights = quantize(prints.emplace_back(print_of(c)), bar)) row.weights = *std::move(weights);
      row.compute_s = watch.seconds();
    }
    const auto made =
        print_stereograms([this](std::size_t device) -> const ViewSource& { return views_.source_of(device); }, prints,
                          {job_.devices, rows_at_once()}, bands_options(job_.console, bar), bar);
    for (std::size_t c = 0; c < rows.size(); ++c) {
      rows[c].info = made[c].info;
      rows[c].report = made[c].report;
      rows[c].resumed = made[c].resumed_rows;
      rows[c].compute_s += made[c].seconds;
      rows[c].rates = made[c].rates;
    }
    return rows;
  }

  /// For a monitor, or codes in a file that is written from top to bottom.
  StereogramRecord make(std::size_t c, ProgressBar& bar) {
    const Stopwatch watch;
    const Queue queue = Queue::create(job_.device);
    StereogramRecord row = row_of(c);
    StereogramPrint print = print_of(c);
    if (auto weights = quantize(print, bar)) {
      row.weights = *std::move(weights);
      auto made = make_codes(job_, print, *views_.source, rows_at_once(), queue, bar);
      row.info = made.info;
      row.report = made.report;
      if (made.shown) job_.shown->add(c, *made.shown);
    } else {
      StereogramPlan plan(print.stereogram, queue);
      Array<Complex, 2> field(print.stereogram.grid.shape(), queue);
      row.info = plan.info();
      row.report = plan.execute(*views_.source, print.channel, {0, job_.panel.ny}, field.view(), bar);
      MadeHologram made;
      HologramEncoder(*job_.encoding, job_.channels[c], queue).encode(std::as_const(field).view(), made);
      job_.shown->add(c, *made.image);
    }
    row.compute_s = watch.seconds();
    return row;
  }

  [[nodiscard]] Metadata make_metadata(const Channel& channel) const {
    const auto& options = job_.options;
    Metadata metadata = panel_metadata(job_.panel, channel);
    set_metadata(metadata, "encoding", "complex");
    set_metadata(metadata, "method", "stereogram, " + std::string(to_string(options.method)));
    set_metadata(metadata, "hogel_px", std::to_string(options.hogel_px));
    if (options.method == StereogramMethod::layered) set_metadata(metadata, "layers", std::to_string(options.layers));
    if (options.fringe_m > 0) set_metadata(metadata, "fringe_m", options.fringe_m);
    if (options.viewer) set_metadata(metadata, "viewer", to_text(*options.viewer));
    set_metadata(metadata, "seed", std::to_string(options.seed));
    for (const auto& [name, value] : views_.metadata) metadata[name] = value;
    return metadata;
  }

  /// Identity of the rows: rows of other views or parameters are not continued.
  [[nodiscard]] std::string print_key(const Metadata& metadata) const {
    std::string key =
        fmt::format("{} {} {} {} {:x} {}", job_.panel.nx, job_.panel.ny, number_text(job_.geometry.camera_span_m),
                    io::json_text(views_.facts), views_.digest, backend_of(job_.device));
    for (const auto& [name, value] : metadata) key += fmt::format(" {}={}", name, value);
    return key;
  }

  const StereogramJob& job_;
  StereogramViews views_;
};

double share(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

constexpr double reported_share = 0.005;

/// Warnings known before any ray is computed.
std::vector<std::string> early_warnings(const StereogramJob& job, const StereogramWork& work) {
  std::vector<std::string> warnings = work.views().warnings;
  const auto& n = job.options.hogel_px;
  const auto infos = work.infos();
  if (const auto [down, across] = infos.front().padding; down > 0 || across > 0) {
    warnings.push_back(
        fmt::format("hogels of {} pixels do not divide the panel of {} x {}: the last column and row extend {} and {} "
                    "pixels beyond it and are cut",
                    n, job.panel.nx, job.panel.ny, across, down));
  }
  for (const auto& info : infos) {
    if (info.outside_share < reported_share) continue;
    warnings.push_back(fmt::format(
        "--viewer: {:.3g} % of the window lies beyond the diffraction angle of {:.3g} degrees, by up to {:.2g}, and "
        "stays dark; use a smaller window or a smaller pitch",
        100 * info.outside_share, degrees * info.diffraction_angle_rad, degrees * info.outside_rad));
  }
  for (const auto& channel : job.channels) {
    if (auto words = wavelength_warning(channel.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  }
  return warnings;
}

/// Warnings from the computed rays.
std::vector<std::string> late_warnings(const StereogramJob& job, const StereogramWork& work,
                                       const std::vector<StereogramRecord>& rows) {
  std::vector<std::string> warnings;
  const auto& n = job.options.hogel_px;
  const std::int64_t fitting = job.hogel_for(work.views().nearest_m);
  const std::string smaller = fitting < n ? fmt::format("; --hogel {} fits", fitting) : "";
  for (const auto& row : rows) {
    // A resumed run has computed only a part of the rays.
    if (row.resumed > 0) continue;
    if (row.report.hogels > 0 && row.report.lit == 0) {
      warnings.push_back(fmt::format("{} holds no light: all rays miss {}", row.output, job.views));
    }
    if (share(row.report.too_near, row.report.lit) >= reported_share) {
      const double side = static_cast<double>(n) * job.panel.pitch_m;
      const double least = 2 * side * job.panel.pitch_m / job.channels[row.channel].wavelength_m;
      warnings.push_back(
          fmt::format("--hogel: {:.0f} % of the rays start nearer to the panel than hogels of {} pixels resolve ({}){}",
                      100 * share(row.report.too_near, row.report.lit), n,
                      format_length(std::stod(fmt::format("{:.2g}", least))), smaller));
    }
    // Some of the widest angles are always cut.
    constexpr double many = 0.25;
    if (share(row.report.cut, row.report.lit) >= many) {
      warnings.push_back(fmt::format(
          "--hogel: {:.0f} % of the rays need fringes finer than two pixels at a hogel's edge and are left out; hogels "
          "show as steps{}",
          100 * share(row.report.cut, row.report.lit), smaller));
    }
  }
  return warnings;
}

std::string_view encoding_of(const StereogramJob& job) {
  if (job.encoding) return to_string(job.encoding->encode.encoding);
  if (!job.codes) return "complex";
  return name_of(job.codes->modulation);
}

nlohmann::json make_json(const StereogramJob& job, const StereogramWork& work,
                         const std::vector<StereogramRecord>& rows, double seconds) {
  const auto& first = rows.front();
  nlohmann::json object{{"input", job.views},
                        {"method", to_string(job.options.method)},
                        {"hogel_px", job.options.hogel_px},
                        {"hogels", {first.info.hogels[1], first.info.hogels[0]}},
                        {"padding_px", {first.info.padding[1], first.info.padding[0]}},
                        {"seed", job.options.seed},
                        {"software", "holotone " HOLOTONE_VERSION},
                        {"device", names_of(job.devices)},
                        {"panel", job.panel.name},
                        {"resolution", {job.panel.nx, job.panel.ny}},
                        {"pitch_m", job.panel.pitch_m},
                        {"encoding", encoding_of(job)},
                        {"time_s", seconds},
                        {"outputs", nlohmann::json::array()},
                        {"holograms", nlohmann::json::array()}};
  object.update(work.views().facts);
  if (work.views().missed_share) object["missed_share"] = work.views().missed_share();
  if (job.options.viewer) object["viewer"] = to_text(*job.options.viewer);
  if (job.codes) object["bits"] = job.codes->bits;
  for (const auto& row : rows) {
    const auto& channel = job.channels[row.channel];
    // A resumed run knows a part of the rays.
    const auto of_all = [&](std::int64_t part, std::int64_t all) {
      return row.resumed > 0 ? nlohmann::json(nullptr) : nlohmann::json(share(part, all));
    };
    nlohmann::json one{{"output", row.output},
                       {"wavelength_m", channel.wavelength_m},
                       {"diffraction_angle_rad", row.info.diffraction_angle_rad},
                       {"outside_share", row.info.outside_share},
                       {"outside_rad", row.info.outside_rad},
                       {"computed_share", of_all(row.report.computed, row.report.rays)},
                       {"lit_share", of_all(row.report.lit, row.report.rays)},
                       {"resumed_rows", row.resumed},
                       {"compute_s", row.compute_s}};
    if (job.writes_rows()) {
      one["bands_s"] = row.rates.seconds;
      one["device_s"] = row.rates.device_seconds;
      one["write_s"] = row.rates.write_seconds;
    }
    if (job.options.method == StereogramMethod::layered) {
      one["layers_per_hogel"] = of_all(row.report.layers, row.report.hogels);
      one["too_near_share"] = of_all(row.report.too_near, row.report.lit);
      one["cut_share"] = of_all(row.report.cut, row.report.lit);
      one["curvature_error_rad"] = row.report.curvature_error_rad;
      one["astigmatism_rad"] = row.report.astigmatism_rad;
    }
    if (job.codes) {
      one["scale"] = job.codes->scale;
      one["weights_used"] = {row.weights.min_used, row.weights.max_used};
      one["weights_sum"] = {row.weights.min_sum, row.weights.max_sum};
    }
    if (!channel.name.empty()) one["channel"] = channel.name;
    object["outputs"].push_back(row.output);
    object["holograms"].push_back(one);
  }
  return object;
}

/// Remark for fewer than 8 hogels a side of views without depth, which show as a patchwork; else empty.
std::string few_hogels_remark(const StereogramJob& job, const StereogramInfo& info) {
  constexpr std::int64_t few = 8;
  if (job.picture || !job.depths.empty() || std::max(info.hogels[0], info.hogels[1]) >= few) return {};
  const double distance_m = std::abs(job.geometry.distance_m);
  const auto width_of_point = [&](std::int64_t hogel_px) {
    const double metres =
        job.channels.front().wavelength_m * distance_m / (static_cast<double>(hogel_px) * job.panel.pitch_m);
    return format_length(std::stod(fmt::format("{:.2g}", metres)));
  };
  const std::int64_t n = job.options.hogel_px;
  const std::int64_t smaller = std::max<std::int64_t>(n / 4, 2);
  if (distance_m == 0 || smaller == n) return {};
  return fmt::format(
      "note: {} x {} hogels give as many views, which join only in the focus plane {} away; --hogel {} joins them more "
      "smoothly, but a point there is then {} wide instead of {}",
      info.hogels[1], info.hogels[0], format_length(distance_m), smaller, width_of_point(smaller), width_of_point(n));
}

/// Prints before the rays are computed, which may take minutes.
void tell_early(const StereogramJob& job, const StereogramWork& work) {
  for (const auto& warning : early_warnings(job, work)) warn(job.console, warning);
  if (const auto words = few_hogels_remark(job, work.infos().front()); !words.empty()) remark(job.console, words);
}

void tell(const StereogramJob& job, const StereogramWork& work, const std::vector<StereogramRecord>& rows,
          double seconds) {
  const auto& first = rows.front();
  for (const auto& row : rows) {
    if (row.resumed > 0) remark(job.console, fmt::format("{}: resumed after {} rows", row.output, row.resumed));
  }
  if (const auto& missed = work.views().missed_share; missed && missed() >= 0.005) {
    remark(job.console,
           fmt::format("{:.0f} % of the rays fall outside the camera grid (black); widen {} or change --view-distance",
                       100 * missed(),
                       work.views().camera_pitch_m > 0
                           ? fmt::format("--camera-pitch (now {})",
                                         format_length(std::stod(fmt::format("{:.4g}", work.views().camera_pitch_m))))
                           : "--camera-span"));
  }
  const std::string what =
      first.output == rows.back().output ? first.output : first.output + " to " + rows.back().output;
  StereogramReport all;
  bool resumed = false;
  for (const auto& row : rows) {
    all += row.report;
    resumed = resumed || row.resumed > 0;
  }
  const std::string computed =
      resumed ? "" : fmt::format(", {:.3g} % of the rays computed", 100 * share(all.computed, all.rays));
  const std::string codes =
      job.codes ? fmt::format(", quantized to {} of {} by vded", counted(job.codes->bits, "bit"), encoding_of(job))
                : "";
  report(job.console, fmt::format("{}: {} x {} pixels, {} x {} hogels of {}{}{}, on {}, {}", what, job.panel.nx,
                                  job.panel.ny, first.info.hogels[1], first.info.hogels[0], job.options.hogel_px,
                                  computed, codes, all_names_of(job.devices), format_duration(seconds)));
  for (const auto& row : rows) {
    if (const auto text = to_text(row.rates, job.devices); !text.empty()) report(job.console, text);
  }
}

}  // namespace

int run_stereogram(SceneJob& scene) {
  const Stopwatch watch;
  StereogramJob job = stereogram_job(scene);
  StereogramWork work(job);
  tell_early(job, work);
  if (job.shown) job.shown->open();
  const auto rows = work();
  for (const auto& warning : late_warnings(job, work, rows)) warn(job.console, warning);
  report_json(job.console, make_json(job, work, rows, watch.seconds()));
  tell(job, work, rows, watch.seconds());
  return job.shown ? until_closed([&] { job.shown->play(false); }) : exit_ok;
}

}  // namespace holotone::cli
