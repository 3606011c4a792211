// Table 1 of Shimobaba, Ito, Masuda, Ichihashi, Takada, "Fast calculation of computer-generated-hologram on AMD HD5000
// series GPU and OpenCL" (2010): 1920x1024 pixels, I = sum A cos(P ((x - xj)^2 + (y - yj)^2)), times in milliseconds.
// The published columns stand beside this machine's: the paper's recurrence (Eq. 2), plain summation and the product of
// matrices, each giving the real part alone.
#include <bench/paper_table.hpp>
#include <fmt/format.h>

namespace {

struct Published {
  std::int64_t points;
  double cpu_ms;           ///< one core of a Core 2 Quad Q6600, recurrence
  double geforce_ms;       ///< GeForce GTX 260, CUDA 2.3, optimised
  double radeon_plain_ms;  ///< Radeon HD 5850, OpenCL, without optimisation
  double radeon_ms;        ///< the same with optimisation
};

constexpr Published table_1[] = {{512, 30e3, 33, 215, 19},     {1024, 59e3, 59, 422, 31},
                                 {1536, 88e3, 85, 630, 44},    {2048, 115e3, 112, 838, 56},
                                 {2560, 146e3, 139, 1045, 68}, {3072, 174e3, 165, 1252, 80},
                                 {3584, 204e3, 192, 1464, 93}};

void print(const bench::TableOptions& options, nlohmann::json& results) {
  std::vector<std::vector<std::string>> rows = {{"points", "CPU 2010", "GTX 260", "HD 5850", "HD 5850 opt.", "direct",
                                                 "recurrence", "separable", "rec./sep.", "rel. error"}};
  for (const auto& row : table_1) {
    if (row.points > options.max_points) continue;
    const auto c = bench::paper_case(row.points, options.small);
    const auto points = cases::make_points(c);
    const auto samples = cases::sample_reference(c, points, 512);
    const auto measured = [&](holotone::PointMethod method) {
      return bench::measure(c, points, samples, method, bench::PointCloudRun::Output::real, options.device);
    };
    const auto direct = measured(holotone::PointMethod::direct);
    const auto recurrence = measured(holotone::PointMethod::recurrence);
    const auto separable = measured(holotone::PointMethod::separable);
    rows.push_back({std::to_string(row.points), fmt::format("{:.0f}", row.cpu_ms),
                    fmt::format("{:.0f}", row.geforce_ms), fmt::format("{:.0f}", row.radeon_plain_ms),
                    fmt::format("{:.0f}", row.radeon_ms), bench::three_digits(direct.milliseconds),
                    bench::three_digits(recurrence.milliseconds), bench::three_digits(separable.milliseconds),
                    bench::three_digits(recurrence.milliseconds / separable.milliseconds),
                    fmt::format("{:.1e}", separable.relative_error)});
    results["rows"].push_back({{"points", row.points},
                               {"published_cpu_ms", row.cpu_ms},
                               {"published_gtx260_ms", row.geforce_ms},
                               {"published_hd5850_plain_ms", row.radeon_plain_ms},
                               {"published_hd5850_ms", row.radeon_ms},
                               {"direct_ms", direct.milliseconds},
                               {"recurrence_ms", recurrence.milliseconds},
                               {"separable_ms", separable.milliseconds},
                               {"rel_error", separable.relative_error}});
  }
  bench::print_table(rows);
  fmt::print(
      "\nPublished: one core of a Core 2 Quad Q6600; GeForce GTX 260; Radeon HD 5850 without and with the paper's\n"
      "optimisation. Here: the real part alone, points on the device; random signs, z 0.5 to 0.6 m, 8 um, 532 nm.\n");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_table_program(argc, argv,
                                  {"paper_shimobaba", "Table 1 of Shimobaba et al. 2010, published and measured here",
                                   "Shimobaba et al. 2010, Table 1: 1920x1024, milliseconds", 3584},
                                  print);
}
