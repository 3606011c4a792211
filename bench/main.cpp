// holotone_bench [--device cpu|cuda:0] [--max-points N] [--scan dragon.ply] [--picture kodim23.png]
//                [--target photo.png] [--out-of-core N] [--resident N] [--processor-time] [--prices] [--sweep]
//                [Google Benchmark's own options]
//
// --out-of-core: the side of the field of propagate/out_of_core. The host needs 24 N^2 bytes: 96 GiB for 65536.
// --resident: the side of the field of propagate/resident, which the device holds: 57344 takes some 80 GB there.
// --prices: also hologram/price/METHOD/TOLERANCE/POINTS, from which bench/method_prices.py fits the prices of methods.
// --sweep: also hologram/sweep/*, by which bench/method_sweep.py compares `auto` with the best method of 40 scenes.
// --processor-time: the CPU's rows in processor time of one thread, for a machine that does other work meanwhile.
// Every row is first checked against the float64 reference; one that misses its tolerance is reported as an error and
// not timed. JSON: --benchmark_out=results.json; bench/merge.py adds the rows to bench/results/.
#include <bench/rows.hpp>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <holotone/core/error.hpp>
#include <string>
#include <vector>

namespace {

/// Removes `--name value` or `--name=value` from the arguments. Returns the value, or `otherwise` if it is absent.
std::string take_option(std::vector<char*>& arguments, const std::string& name, const std::string& otherwise) {
  for (auto at = arguments.begin() + 1; at != arguments.end(); ++at) {
    if (*at == name && at + 1 != arguments.end()) {
      std::string value = *(at + 1);
      arguments.erase(at, at + 2);
      return value;
    }
    if (std::strncmp(*at, (name + "=").c_str(), name.size() + 1) == 0) {
      std::string value = *at + name.size() + 1;
      arguments.erase(at);
      return value;
    }
  }
  return otherwise;
}

/// Removes `name` from the arguments. Returns true if it was present.
bool take_flag(std::vector<char*>& arguments, const std::string& name) {
  return std::erase_if(arguments, [&](const char* argument) { return name == argument; }) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<char*> arguments(argv, argv + argc);
    bench::RowOptions options;
    options.device = holotone::parse_device(take_option(arguments, "--device", "auto"));
    const bool cpu = options.device.backend == holotone::Backend::cpu;
    options.max_points =
        std::strtoll(take_option(arguments, "--max-points", cpu ? "102400" : "1048576").c_str(), nullptr, 10);
    options.scan = take_option(arguments, "--scan", "");
    options.picture = take_option(arguments, "--picture", "");
    options.target = take_option(arguments, "--target", "");
    options.out_of_core =
        std::strtoll(take_option(arguments, "--out-of-core", cpu ? "1024" : "4096").c_str(), nullptr, 10);
    options.resident = std::strtoll(take_option(arguments, "--resident", "0").c_str(), nullptr, 10);
    options.prices = take_flag(arguments, "--prices");
    options.sweep = take_flag(arguments, "--sweep");
    if (take_flag(arguments, "--processor-time")) bench::use_processor_time();
    const auto info = holotone::describe(options.device);
    benchmark::AddCustomContext("commit", bench::commit());
    benchmark::AddCustomContext("device", info.name);
    benchmark::AddCustomContext("device_units", std::to_string(info.units));
    benchmark::AddCustomContext("driver", info.detail);
    benchmark::AddCustomContext("backend", to_string(options.device));
    benchmark::AddCustomContext("clock", cpu ? bench::clock_name() : "device");
    benchmark::AddCustomContext("date_utc", bench::utc_date());
    bench::add_panel_rows(options);
    bench::add_point_cloud_rows(options);
    bench::add_propagation_rows(options);
    bench::add_stereogram_rows(options);
    bench::add_smoe_rows(options);
    if (options.device.backend != holotone::Backend::opencl) {  // which lacks these
      bench::add_point_cloud_fast_rows(options);
      bench::add_method_sweep_rows(options);
      bench::add_error_diffusion_rows(options);
      bench::add_nufft_rows(options);
      bench::add_halftone_rows(options);
      bench::add_retrieval_rows(options);
      bench::add_spots_rows(options);
    }
    if (cpu) {
      bench::add_sequence_rows(options);
      bench::add_cpu_limits(options);
    }
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
  } catch (const holotone::Error& error) {
    std::fprintf(stderr, "holotone_bench: %s\n", error.what());
    return 2;
  }
}
