#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/half_pixel_reconstruction.hpp>

namespace holotone {
namespace {

constexpr std::string_view name = "HalfPixelReconstruction";
constexpr std::int64_t border = 64;  ///< pixels, within which a moved edge rings down to 1 / (64 pi) of its step
constexpr std::size_t none = half_pixels.size();

ReconstructionOptions wide(ReconstructionOptions options) {
  if (options.output_pitch_m != 0 && options.output_pitch_m != options.grid.pitch_m) {
    throw_unsupported(name, "output_pitch_m", fmt::format("the grid's {}", options.grid.pitch_m),
                      fmt::format("{}", options.output_pitch_m));
  }
  options.grid = half_pixel_grid(options.grid);
  return options;
}

}  // namespace

FieldGrid half_pixel_grid(const FieldGrid& grid) {
  FieldGrid wider = grid;
  wider.nx = fft_friendly_size(grid.nx + 2 * border);
  wider.ny = fft_friendly_size(grid.ny + 2 * border);
  return wider;
}

struct HalfPixelReconstruction::State {
  FieldGrid grid;
  Queue queue;
  ReconstructionPlan plan;
  FftPlan fft;
  Array<Complex, 2> spectrum;  ///< of the field on the wide grid
  Array<Complex, 2> moved;
  Array<float, 2> intensity;  ///< on the queue's device
  bool has_field = false;
  std::size_t position = none;  ///< of the plan's field

  State(const ReconstructionOptions& options, Queue given_queue)
      : grid(options.grid),
        queue(std::move(given_queue)),
        plan(wide(options), queue),
        fft(half_pixel_grid(grid).shape()),
        spectrum(half_pixel_grid(grid).shape()),
        moved(spectrum.shape()),
        intensity(spectrum.shape(), queue) {}

  [[nodiscard]] Shape<2> corner() const {
    return {(spectrum.shape()[0] - grid.ny) / 2, (spectrum.shape()[1] - grid.nx) / 2};
  }

  void move_to(std::size_t next) {
    if (position == next) return;
    const auto along_y = shift_factors(moved.shape()[0], 0.5 * half_pixels[next][0]);
    const auto along_x = shift_factors(moved.shape()[1], 0.5 * half_pixels[next][1]);
    parallel_for(0, moved.shape()[0], [&](std::int64_t row) {
      for (std::int64_t x = 0; x < moved.shape()[1]; ++x) {
        moved(row, x) =
            spectrum(row, x) * along_y[static_cast<std::size_t>(row)] * along_x[static_cast<std::size_t>(x)];
      }
    });
    fft.execute(moved.view(), FftDirection::inverse);
    if (queue.device() == Device{}) {
      plan.set_field(moved.view());
    } else {
      const auto field = moved.to(queue.device());
      plan.set_field(field.view());
      queue.synchronize();
    }
    position = next;
  }
};

HalfPixelReconstruction::HalfPixelReconstruction(const ReconstructionOptions& options, Queue queue) {
  require_grid(name, options.grid);
  state_ = std::make_unique<State>(options, std::move(queue));
}

HalfPixelReconstruction::~HalfPixelReconstruction() = default;
HalfPixelReconstruction::HalfPixelReconstruction(HalfPixelReconstruction&&) noexcept = default;
HalfPixelReconstruction& HalfPixelReconstruction::operator=(HalfPixelReconstruction&&) noexcept = default;

const FieldGrid& HalfPixelReconstruction::grid() const { return state_->grid; }

void HalfPixelReconstruction::set_field(View<const Complex, 2> field) {
  State& s = *state_;
  require_view(name, "field", field, s.grid.shape(), Device{});
  std::fill_n(s.spectrum.data(), s.spectrum.size(), Complex{});
  const auto [top, left] = s.corner();
  for (std::int64_t row = 0; row < s.grid.ny; ++row) {
    std::copy_n(field.data() + row * s.grid.nx, s.grid.nx, &s.spectrum(top + row, left));
  }
  s.fft.execute(s.spectrum.view(), FftDirection::forward);
  s.has_field = true;
  s.position = none;
}

void HalfPixelReconstruction::execute(double distance_m, std::size_t position, View<float, 2> intensity) {
  State& s = *state_;
  require_view(name, "intensity", intensity, s.grid.shape(), Device{});
  if (!s.has_field) throw_argument(name, "field", "set_field before execute", "no field");
  if (position >= half_pixels.size()) {
    throw_argument(name, "position", fmt::format("0 to {}", half_pixels.size() - 1), fmt::format("{}", position));
  }
  s.move_to(position);
  s.plan.execute(distance_m, s.intensity.view());
  Array<float, 2> host(s.intensity.shape());
  copy<float, 2>(host.view(), s.intensity.view(), s.queue);
  s.queue.synchronize();
  const auto [top, left] = s.corner();
  for (std::int64_t row = 0; row < s.grid.ny; ++row) {
    std::copy_n(&host(top + row, left), s.grid.nx, intensity.data() + row * s.grid.nx);
  }
}

}  // namespace holotone
