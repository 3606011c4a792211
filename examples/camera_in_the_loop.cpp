// Camera in the loop: a bench that differs from the model (aberration, uneven beam, another pitch, noise) is simulated;
// the optimization sees it only through its camera, and reaches a picture that the model alone cannot.
#include <cmath>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>

int main() try {
  using namespace holotone;
  constexpr std::int64_t n = 128;
  PhaseRetrievalOptions options;
  options.grid = {.nx = n, .ny = n, .pitch_m = 8e-6, .wavelength_m = 532e-9};
  options.planes = {{.distance_m = 0.01}};
  options.region = {24, 24, 80, 80};
  Array<float, 2> picture({n, n});  // amplitude: rings
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      const double r = std::hypot(static_cast<double>(col) - 60, static_cast<double>(row) - 66);
      picture(row, col) = static_cast<float>(0.5 + 0.4 * std::cos(r / 6));
    }
  }
  PhaseRetrievalPlan model(options);
  model.set_target(picture.view());

  // What the model does not know: pixels 0.5 % wider, a beam that fades outwards, astigmatism and coma, noise of 1 %.
  options.grid.pitch_m *= 1.005;
  PhaseRetrievalPlan bench(options);
  bench.set_target(picture.view());
  Array<Complex, 2> beam({n, n});
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      const double x = static_cast<double>(2 * col - n) / n;
      const double y = static_cast<double>(2 * row - n) / n;
      const double aberration = 1.2 * x * y + 0.8 * (x * x + y * y) * x;
      beam(row, col) = std::polar(static_cast<float>(std::exp(-0.4 * (x * x + y * y))), static_cast<float>(aberration));
    }
  }
  bench.set_source(beam.view());
  std::uint64_t pictures = 0;
  const RetrievalCamera camera = [&](View<const float, 3> phase, View<float, 4> amplitude) {
    const auto light = bench.light(phase);
    for (std::int64_t i = 0; i < light.size(); ++i) {
      const double noise = random_uniform64(++pictures, static_cast<std::uint64_t>(i)) - 0.5;
      amplitude.data()[i] = std::sqrt(light.data()[i]) * static_cast<float>(1 + 0.03 * noise);
    }
  };

  auto phase = starting_phase({1, n, n});
  model.optimize(phase.view(), {.iterations = 60});
  const double promised = model.quality(phase.view())[0].psnr_worst_db;
  const double alone = bench.quality(phase.view())[0].psnr_worst_db;
  model.optimize(phase.view(), {.solver = RetrievalSolver::adam, .iterations = 100, .camera = camera});
  const double mended = bench.quality(phase.view())[0].psnr_worst_db;
  std::printf("the model promises %.1f dB, the bench has %.1f dB; after 100 pictures by the camera %.1f dB\n", promised,
              alone, mended);
  return mended > alone + 3 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
