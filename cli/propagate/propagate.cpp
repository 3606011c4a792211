#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_file.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/optics/large_propagation.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct PropagateJob {
  std::string input;
  std::string output;
  LargePropagationOptions options;
  HologramOverrides overrides;  ///< --wavelength and --pitch alone
  std::string device = "auto";
  ConsoleOptions console;
};

std::vector<double> one_wavelength(std::string_view option, const std::string& text) {
  return {wavelength_of(option, text)};
}

/// Bytes of "16GiB" or "500MiB".
std::size_t parse_bytes(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "a size such as 16GiB or 500MiB";
  constexpr double most = 1ULL << 50U;
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB"};
  double scale = 1;
  for (const auto unit : units) {
    scale *= 1024;
    if (!text.ends_with(unit)) continue;
    const std::string number = text.substr(0, text.size() - unit.size());
    if (number.find_first_not_of("0123456789.") != std::string::npos) break;
    const double bytes = scale * positive_number(option, number);
    if (bytes <= most) return static_cast<std::size_t>(bytes);
  }
  reject(option, expected, text);
}

void add_to(Metadata& metadata, const std::string& path, std::string_view key, double change) {
  const auto value = checked_number(path, metadata, key);
  if (!value) return;
  if (!(std::abs(*value + change) <= max_distance_m)) {
    reject("--distance", fmt::format("a {} of at most 100 km either way afterwards", key),
           fmt::format("{} m", *value + change));
  }
  set_metadata(metadata, key, *value + change);
}

/// Metadata of the moved field. A plane that moves toward the viewer leaves the object farther behind it.
Metadata moved(const HologramLight& light, double distance_m) {
  Metadata metadata = light.metadata;
  if (metadata.contains("focal_length_m")) {
    throw_io(light.path, "a field of free space", "one in the focal plane of a lens, with focal_length_m");
  }
  for (const auto* key : {"distance_m", "distance_min_m", "distance_max_m"}) {
    add_to(metadata, light.path, key, distance_m);
  }
  if (metadata.contains("distances_m")) {
    auto planes_m = checked_numbers(light.path, metadata, "distances_m");
    for (double& plane_m : planes_m) plane_m += distance_m;
    set_metadata(metadata, "distances_m", planes_m);
  }
  // A stereogram's: they are of the plane that the field was computed in.
  if (distance_m != 0) {
    for (const auto* key : {"hogel_px", "viewer", "view_distance_m", "camera_pitch_m"}) metadata.erase(key);
  }
  const double before = checked_number(light.path, metadata, "moved_m").value_or(0);
  set_metadata(metadata, "moved_m", before + distance_m);
  set_metadata(metadata, "encoding", "complex");
  set_metadata(metadata, "software", "holotone " HOLOTONE_VERSION);
  return metadata;
}

nlohmann::json make_json(const PropagateJob& job, const std::vector<Device>& devices, const LargePropagationInfo& info,
                         const Metadata& metadata) {
  const auto& options = job.options;
  const auto& grid = options.grid;
  nlohmann::json json{{"software", "holotone " HOLOTONE_VERSION},
                      {"outputs", {job.output}},
                      {"resolution", {grid.nx, grid.ny}},
                      {"wavelength_m", grid.wavelength_m},
                      {"pitch_m", grid.pitch_m},
                      {"moved_m", options.distance_m},
                      {"band_limit", options.band_limit},
                      {"device", names_of(devices)},
                      {"padded", {info.padded[1], info.padded[0]}},
                      {"spectrum_columns", info.spectrum_columns},
                      {"rows_at_once", info.rows_at_once},
                      {"columns_at_once", info.columns_at_once},
                      {"host_bytes", info.host_bytes},
                      {"device_bytes", info.device_bytes},
                      {"moved_bytes", info.moved_bytes}};
  if (const auto distance = checked_number(job.output, metadata, "distance_m")) json["distance_m"] = *distance;
  return json;
}

void remark_on_metadata(const PropagateJob& job, const Metadata& metadata) {
  if (!metadata.contains("distance_m")) return;
  const auto flags = flags_for(job.output, metadata, {});
  if (flags.empty()) return;
  remark(job.console, no_metadata_remark(job.output, job.output, line_of(flags), false));
}

int run_propagate(PropagateJob& job) {
  const Stopwatch watch;
  io::require_input(job.input);
  auto inputs = number_inputs(job.overrides);
  inputs.push_back({"FIELD", job.input});
  require_output(job.output, inputs);
  auto& options = job.options;
  if (!is_hologram_field(job.input, job.overrides.numbers)) {
    throw_io(job.input, "a complex field: .h5, .hdf5, .mat, .npy or .ohc, or real numbers with --read", "another file");
  }
  const auto devices = devices_option(job.device, job.console, OperationId::large_propagation);
  load_early(devices.front(), CudaLibrary::cufft);
  job.overrides.distance_given = true;
  warn_of_notes(job.overrides, job.console);
  const auto rows = hologram_rows(job.input, job.overrides);
  options.grid = rows.light().grid;
  const Metadata metadata = moved(rows.light(), options.distance_m);
  const auto needed = large_propagation_info(options, devices);
  require_memory(job.input, static_cast<double>(needed.host_bytes),
                 fmt::format("the spectrum of {} x {} pixels", options.grid.nx, options.grid.ny));
  ProgressBar bar(job.console);
  const UnfinishedRun unfinished;
  FieldRowsWriter writer(job.output, options.grid.shape(), metadata);
  LargePropagationPlan plan(options, devices);
  plan.execute([&](std::int64_t first, View<Complex, 2> part) { rows.read(first, part); },
               [&](std::int64_t first, View<const Complex, 2> part) { writer.write(first, part); }, bar);
  check_cancelled("writing");
  UnfinishedRun::will_write(job.output);
  writer.finish();
  UnfinishedRun::keep();
  auto json = make_json(job, devices, plan.info(), metadata);
  json["time_s"] = watch.seconds();
  report_json(job.console, json);
  report(job.console, fmt::format("{}: {} x {} pixels moved by {}, {}", job.output, options.grid.nx, options.grid.ny,
                                  format_length(options.distance_m), format_duration(watch.seconds())));
  remark_on_metadata(job, metadata);
  return exit_ok;
}

}  // namespace

Command propagate_command() {
  const auto held = std::make_shared<PropagateJob>();
  auto& job = *held;
  return {
      .name = "propagate",
      .purpose = "Propagate a complex field to another plane, on one or several devices",
      .examples = {"holotone propagate field.h5 -o moved.h5 --distance 20cm",
                   "holotone propagate print.h5 -o moved.h5 --distance -5mm --device all --device-memory 16GiB"},
      .groups = {{"",
                  {{.names = "FIELD",
                    .target = &job.input,
                    .help = "Complex field: .h5, .hdf5, .mat, .npy or .ohc",
                    .required = true},
                   output_option({.target = &job.output, .help = "The propagated field, .h5 or .npy", .common = true}),
                   {.names = "--distance",
                    .target = number(job.options.distance_m, ValueUnit::length, {-max_distance_m, max_distance_m}),
                    .value = "LENGTH",
                    .help = "Distance of the new plane from the field's, positive toward the viewer",
                    .common = true,
                    .required = true,
                    .feeds = "LargePropagationPlan.distance_m"},
                   {.names = "--wavelength",
                    .target = parsed_member<&HologramOverrides::wavelengths_m>(job.overrides, one_wavelength),
                    .value = "LENGTH",
                    .help = "Wavelength of the field",
                    .otherwise = "the file's",
                    .feeds = "LargePropagationPlan.wavelength_m"},
                   {.names = "--pitch",
                    .target = parsed_member<&HologramOverrides::pitch_m>(job.overrides, pitch_of),
                    .value = "LENGTH",
                    .help = "Pitch of the field's pixels",
                    .otherwise = "the file's",
                    .feeds = "LargePropagationPlan.pitch_m"},
                   {.names = "--no-band-limit",
                    .target = member<&LargePropagationOptions::band_limit>(job.options),
                    .help = "Keep frequencies at which the transfer function is undersampled"},
                   device_row({.target = &job.device,
                               .help = "auto, cpu, cuda:N or opencl:N; all or several, with commas",
                               .common = true}),
                   {.names = "--device-memory",
                    .target = parsed(job.options.device_memory_bytes, parse_bytes),
                    .value = "SIZE",
                    .help = "Most memory taken on each device, such as 16GiB",
                    .otherwise = "half of what is free",
                    .common = true,
                    .feeds = "LargePropagationPlan.device_memory_bytes"}}},
                 {"Real numbers", number_options(job.overrides)},
                 console_options(job.console)},
      .run = [held] { return run_propagate(*held); }};
}

}  // namespace holotone::cli
