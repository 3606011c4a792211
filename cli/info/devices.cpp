#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/device_option.hpp>
#include <fmt/format.h>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/device_speed.hpp>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {
namespace {

struct DevicesJob {
  ConsoleOptions console;
  bool measure = false;
};

/// "12.3", "1520": three digits, or all before the point.
std::string three_digits(double value) {
  return value < 999.5 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string rate_text(double bytes_per_s) { return three_digits(bytes_per_s / 1e9) + " GB/s"; }

void report_figures(const ConsoleOptions& console, const DeviceFigures& figures) {
  report(console,
         fmt::format("{:<8} copy to it {}, from it {}, within it {}", "", rate_text(figures.upload_bytes_per_s),
                     rate_text(figures.download_bytes_per_s), rate_text(figures.memory_bytes_per_s)));
  report(console, fmt::format("{:<8} propagation of {} x {} {}, direct sum {} billion points x pixels/s", "",
                              measured_propagation[1], measured_propagation[0], format_duration(figures.propagation_s),
                              three_digits(figures.point_pixels_per_s / 1e9)));
}

nlohmann::json figures_json(const DeviceFigures& figures) {
  return {{"upload_bytes_per_s", figures.upload_bytes_per_s},
          {"download_bytes_per_s", figures.download_bytes_per_s},
          {"memory_bytes_per_s", figures.memory_bytes_per_s},
          {"propagation_s", figures.propagation_s},
          {"point_pixels_per_s", figures.point_pixels_per_s}};
}

struct Measured {
  std::optional<DeviceFigures> figures;
  std::string error;  ///< why there are none
};

/// Failures of a device are reported, not thrown: the others are measured nevertheless.
Measured measured(Device device, const ConsoleOptions& console) {
  ProgressBar progress(console);
  try {
    (void)device_option(to_string(device), console);
    return {.figures = measure_device(device, progress), .error = {}};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled || cancelled()) throw;
    return {.figures = {}, .error = error.what()};
  } catch (const std::bad_alloc&) {
    return {.figures = {}, .error = "out of memory"};
  }
}

/// One device's figures.
struct Row {
  Device device;
  DeviceFigures figures;
};

/// Names the slowest device where there are several: the one that bands of points wait for.
void report_slowest(const ConsoleOptions& console, const std::vector<Row>& rows, nlohmann::json& object) {
  if (rows.size() < 2) return;
  const auto rate = [](const Row& row) { return row.figures.point_pixels_per_s; };
  const auto [least, most] = std::ranges::minmax_element(rows, {}, rate);
  report(console,
         fmt::format("slowest: {}, whose direct sum takes {} times as long as that of {}", to_string(least->device),
                     three_digits(rate(*most) / rate(*least)), to_string(most->device)));
  object["slowest"] = to_string(least->device);
}

int run_devices(const DevicesJob& job) {
  auto list = nlohmann::json::array();
  std::vector<Row> rows;
  for (const Device device : devices()) {
    const DeviceInfo info = describe(device);
    report(job.console, fmt::format("{:<8} {}, {} {}, {} of {} free{}{}", to_string(device), info.name, info.units,
                                    device.backend == Backend::cpu ? "threads" : "multiprocessors",
                                    format_bytes(static_cast<double>(info.free_bytes)),
                                    format_bytes(static_cast<double>(info.memory_bytes)),
                                    info.detail.empty() ? "" : ", ", info.detail));
    list.push_back({{"device", to_string(device)},
                    {"name", info.name},
                    {"units", info.units},
                    {"memory_bytes", info.memory_bytes},
                    {"free_bytes", info.free_bytes},
                    {"detail", info.detail}});
    if (!job.measure) continue;
    const Measured result = measured(device, job.console);
    if (result.figures) {
      report_figures(job.console, *result.figures);
      list.back()["measured"] = figures_json(*result.figures);
      rows.push_back({device, *result.figures});
    } else {
      report(job.console, fmt::format("{:<8} not measured: {}", "", result.error));
      list.back()["error"] = result.error;
    }
  }
  nlohmann::json object = {{"devices", list}};
  report_slowest(job.console, rows, object);
  report_json(job.console, object);
  return exit_ok;
}

}  // namespace

Command devices_command() {
  const auto job = std::make_shared<DevicesJob>();
  return {.name = "devices",
          .purpose = "List the devices that this machine can compute on",
          .examples = {"holotone devices", "holotone devices --json", "holotone devices --measure"},
          .groups = {{"",
                      {{.names = "--measure",
                        .target = &job->measure,
                        .help = "Time copies, a propagation and a sum of points on each device (about 1 s each)",
                        .common = true}}},
                     console_options(job->console)},
          .run = [job] { return run_devices(*job); }};
}

}  // namespace holotone::cli
