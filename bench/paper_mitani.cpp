// Figure 4.1 of Mitani, Suzuki, Takada, "Fast calculation of phase-modulated computer generated hologram with Ampere
// GPU": 1920x1024 pixels, the phase of the sum, sines and cosines of every pixel (old) against factors of rows and
// columns (new). The figure's values are not in the text; it states that 30,000 points play in real time on one
// GeForce RTX 3080. The table goes on to 1,000,000 points.
#include <bench/paper_table.hpp>
#include <fmt/format.h>

namespace {

constexpr std::int64_t sizes[] = {1000, 2000, 5000, 10000, 20000, 30000, 100000, 1000000};
/// The text's only statement of speed.
constexpr std::int64_t real_time_points = 30000;

void print(const bench::TableOptions& options, nlohmann::json& results) {
  std::vector<std::vector<std::string>> rows = {
      {"points", "published (RTX 3080)", "direct (old)", "separable (new)", "old/new", "frames/s", "rel. error"}};
  for (const auto count : sizes) {
    if (count > options.max_points) continue;
    const auto c = bench::paper_case(count, options.small);
    const auto points = cases::make_points(c);
    const auto samples = cases::sample_reference(c, points, 512);
    const auto measured = [&](holotone::PointMethod method) {
      return bench::measure(c, points, samples, method, bench::PointCloudRun::Output::field_and_phase, options.device);
    };
    const auto old_method = measured(holotone::PointMethod::direct);
    const auto new_method = measured(holotone::PointMethod::separable);
    const std::string published = count == real_time_points  ? "real time"
                                  : count < real_time_points ? "figure only"
                                                             : "-";
    rows.push_back({std::to_string(count), published, bench::three_digits(old_method.milliseconds),
                    bench::three_digits(new_method.milliseconds),
                    bench::three_digits(old_method.milliseconds / new_method.milliseconds),
                    bench::three_digits(1e3 / new_method.milliseconds),
                    fmt::format("{:.1e}", new_method.relative_error)});
    results["rows"].push_back({{"points", count},
                               {"published", published},
                               {"direct_ms", old_method.milliseconds},
                               {"separable_ms", new_method.milliseconds},
                               {"rel_error", new_method.relative_error}});
  }
  bench::print_table(rows);
  fmt::print(
      "\nHere: complex field and 8-bit phase, points on the device; random signs, z 0.5 to 0.6 m, 8 um, 532 nm.\n");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_table_program(argc, argv,
                                  {"paper_mitani", "Figure 4.1 of Mitani, Suzuki and Takada, measured here",
                                   "Mitani, Suzuki, Takada, Figure 4.1: 1920x1024, milliseconds", 30000},
                                  print);
}
