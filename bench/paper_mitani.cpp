// Figure 4.1 of Mitani, Suzuki, Takada, "Fast calculation of phase-modulated computer generated hologram with Ampere
// GPU": 1920x1024 pixels, the phase of the sum, sines and cosines of every pixel (old) against factors of rows and
// columns (new), by the paper's methods (baselines/mitani.hpp) and by the library's. The figure's values are not in the
// text; it states that 30,000 points play in real time on one GeForce RTX 3080. The table ends at 1,000,000 points.
#include <bench/baselines/mitani.hpp>
#include <bench/baselines/shimobaba.hpp>
#include <bench/paper_table.hpp>
#include <fmt/format.h>
#include <stdexcept>

namespace {

constexpr std::int64_t sizes[] = {1000, 2000, 5000, 10000, 20000, 30000, 100000, 1000000};
/// The text's only statement of speed.
constexpr std::int64_t real_time_points = 30000;
/// Levels of 256, rms; rounding alone gives 0.29.
constexpr double largest_phase_error = 0.4;

using bench::Column;
using holotone::PointMethod;

/// The paper's own methods: both on CUDA, the new one in plain loops on the CPU.
std::vector<Column> baselines(const cases::PointCloudCase& c, const reference::PointWaves& points,
                              const cases::PixelSample& samples, holotone::Device device) {
  const auto queue = holotone::Queue::create(device);
  const auto packed = bench::shimobaba_points(points, c.options).to(device);
  holotone::Array<std::complex<float>, 2> field(c.options.shape, queue);
  holotone::Array<std::uint8_t, 2> phase(c.options.shape, queue);
  const auto column = [&](const std::string& heading, const std::string& key, const std::function<void()>& work) {
    const auto error = [&] {
      const double levels = cases::phase_error_levels(samples, phase.to(holotone::Device{}).data());
      if (!(levels < largest_phase_error)) {
        throw std::runtime_error(fmt::format("{}: phases are off by {:.2f} levels", heading, levels));
      }
      return cases::relative_error(samples, field.to(holotone::Device{}).data());
    };
    return Column{heading, key, bench::measure_work(heading, c, queue, work, error)};
  };
#if HOLOTONE_CUDA
  if (device.backend == holotone::Backend::cuda) {
    bench::MitaniNewCuda theorem(c.options.shape, queue);
    const auto old_method = [&] { bench::mitani_old_cuda(packed.view(), field.view(), phase.view(), queue); };
    const auto new_method = [&] { theorem.run(packed.view(), field.view(), phase.view()); };
    return {column("their old kernel", "old", old_method), column("their new", "new", new_method)};
  }
#endif
  return {column("new, loops", "loops", [&] { bench::mitani_new_cpu(packed.view(), field.view(), phase.view()); })};
}

/// The baselines, then the library's methods.
std::vector<Column> measured_columns(std::int64_t count, const bench::TableOptions& options) {
  const auto c = bench::paper_case(count, options.small);
  const auto points = cases::make_points(c);
  const auto samples = cases::sample_reference(c, points, 512);
  auto columns = baselines(c, points, samples, options.device);
  for (const auto method : {PointMethod::direct, PointMethod::separable}) {
    const std::string name(to_string(method));
    columns.push_back(
        {name, name,
         bench::measure(c, points, samples, method, bench::PointCloudRun::Output::field_and_phase, options.device)});
  }
  return columns;
}

void print(const bench::TableOptions& options, nlohmann::json& results) {
  std::vector<std::vector<std::string>> rows = {{"points", "published (RTX 3080)"}};
  for (const auto count : sizes) {
    if (count > options.max_points) continue;
    const auto columns = measured_columns(count, options);
    const std::string published = count == real_time_points  ? "real time"
                                  : count < real_time_points ? "figure only"
                                                             : "-";
    rows.push_back({std::to_string(count), published});
    results["rows"].push_back(
        {{"points", count}, {"published", published}, {"rel_error", columns.back().measured.relative_error}});
    bench::add_columns(columns, rows, results["rows"].back());
    if (rows.size() == 2) rows[0].emplace_back("frames/s, separable");
    rows.back().push_back(bench::three_digits(1e3 / columns.back().measured.milliseconds));
  }
  bench::print_table(rows);
  fmt::print(
      "\nHere: complex field and 8-bit phase, points on the device; random signs, z 0.5 to 0.6 m, 8 um, 532 nm. {}\n",
      options.device.backend == holotone::Backend::cpu
          ? "New, loops:\nsection 3 in plain loops on all threads."
          : "Their\nkernels: section 3 and the method before it as the text describes them, on the same card.");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_table_program(argc, argv,
                                  {"paper_mitani", "Figure 4.1 of Mitani, Suzuki and Takada, measured here",
                                   "Mitani, Suzuki, Takada, Figure 4.1: 1920x1024, milliseconds", 30000},
                                  print);
}
