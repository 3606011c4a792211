// Spots on the CPU: tables of their waves along the axes and matrix products; of many in one plane non-uniform FFTs.
#include <algorithm>
#include <cmath>
#include <holotone/core/matrix_product/blas.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/nufft/nufft.hpp>
#include <holotone/optics/phase_math.h>
#include <holotone/retrieval/spots/host_steps.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <numbers>
#include <optional>
#include <utility>

namespace holotone::spots {
namespace {

/// Spots of one product: their tables and products fit a second-level cache's few megabytes.
constexpr std::size_t chunk_spots = 512;
/// More spots in one plane are cheaper by non-uniform FFTs. Of 1024 x 1024 pixels a step by two threads takes 2.5 ms
/// and 0.086 ms a spot by products and 28 ms so on one machine, 0.26 ms a spot and 22 ms on another: equal at 300 and
/// at 75 spots, and at fewer on smaller panels. Between them neither machine loses more than a factor of two.
constexpr std::size_t min_plane_spots = 150;
constexpr double nufft_tolerance = 3e-5;

/// values[i] = factor exp 2 pi i (frequency t + chirp t^2), t = first + i.
struct AxisWave {
  double first;
  double frequency;
  double chirp;
  Complex factor;
};
HOLOTONE_SIMD_CLONES
void fill_axis(const AxisWave& wave, std::int64_t count, float* __restrict values) {
  const float re = wave.factor.real();
  const float im = wave.factor.imag();
  for (std::int64_t i = 0; i < count; ++i) {
    const double t = wave.first + static_cast<double>(static_cast<std::int32_t>(i));
    float sine = 0;
    float cosine = 0;
    sincos_turns(reduce_turns(t * (wave.frequency + wave.chirp * t)), sine, cosine);
    values[2 * i] = re * cosine - im * sine;
    values[2 * i + 1] = re * sine + im * cosine;
  }
}

/// A row of the factor of depth z: of the whole wave, or of what the paraxial one lacks.
struct DepthRow {
  double first;        ///< X of the first pixel
  double row_squared;  ///< Y^2
  double square;       ///< DepthWave::square
  double turns;        ///< n z / lambda
  double paraxial;     ///< share of the paraxial wave taken away: 0.5, 0
  float side;          ///< -1: the conjugate
};
HOLOTONE_SIMD_CLONES
void multiply_by_depth(const DepthRow& row, std::int64_t count, float* __restrict values) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = row.first + static_cast<double>(static_cast<std::int32_t>(i));
    const double s = row.square * (x * x + row.row_squared);
    const double rest = 1 - s;
    const double turns = row.turns * s * (1 / (1 + std::sqrt(rest > 0 ? rest : 0.0)) - row.paraxial);
    float sine = 0;
    float cosine = 0;
    sincos_turns(reduce_turns(turns), sine, cosine);
    sine *= row.side;
    const float re = values[2 * i];
    const float im = values[2 * i + 1];
    values[2 * i] = re * cosine - im * sine;
    values[2 * i + 1] = re * sine + im * cosine;
  }
}

/// E = unit(E keep + F). Where the sum is 0, E stays.
HOLOTONE_SIMD_CLONES
void normalise(const float* __restrict sum, float keep, std::int64_t count, float* __restrict field) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float re = keep * field[2 * i] + sum[2 * i];
    const float im = keep * field[2 * i + 1] + sum[2 * i + 1];
    const float square = re * re + im * im;
    const bool dark = !(square > 1e-30F);
    const float scale = 1.0F / std::sqrt(dark ? 1.0F : square);
    field[2 * i] = dark ? field[2 * i] : scale * re;
    field[2 * i + 1] = dark ? field[2 * i + 1] : scale * im;
  }
}

float* floats(Complex* values) { return reinterpret_cast<float*>(values); }

class CpuEngine final : public HostSteps {
 public:
  explicit CpuEngine(const SpotOptions& options)
      : HostSteps(options), wave_(options), field_(options.grid.shape()), sum_(options.grid.shape()) {
    std::fill_n(field_.data(), field_.size(), Complex(1));
  }

  void round(int levels) override { round_to(levels, field_.data()); }

  void set_phase(const float* phase_rad) override {
    parallel_blocks(field_.size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        field_.data()[i] =
            pixel_wave(i, static_cast<float>(static_cast<double>(phase_rad[i]) / (2 * std::numbers::pi)));
      }
    });
  }

  void phase(float* phase_rad) const override {
    for_each_pixel([&](std::int64_t i, float turns) {
      constexpr auto turn = static_cast<float>(2 * std::numbers::pi);
      const float phase = turn * (turns < 0 ? turns + 1 : turns);
      phase_rad[i] = phase < turn ? phase : 0.0F;
    });
  }

 private:
  void place_light(const Complex* light) override {
    const std::int64_t count = field_.size();
    amplitude_.clear();
    light_phase_.clear();
    if (light == nullptr) {
      std::fill_n(field_.data(), count, Complex(1));
      return;
    }
    auto split = panel_light({light, static_cast<std::size_t>(count)});
    amplitude_ = std::move(split.amplitude);
    light_phase_ = std::move(split.phase);
    std::ranges::copy(light_phase_, field_.data());
  }

  void place_spots(std::span<const SpotPlace> spots) override {
    spots_.assign(spots.begin(), spots.end());
    const double x = 0.5 * static_cast<double>(options().grid.nx - 1);
    const double y = 0.5 * static_cast<double>(options().grid.ny - 1);
    groups_ = group_spots(spots_, wave_, x * x + y * y, min_plane_spots);
  }

  void build(std::span<const Wave> coefficients, bool keep) override {
    std::fill_n(sum_.data(), sum_.size(), Complex());
    for (const auto& group : groups_) {
      if (!group.has_factor && !group.is_plane) {
        add_products(group, coefficients, sum_.data());
        continue;
      }
      reserve(part_, field_.size());
      if (group.is_plane) {
        transform_to(group, coefficients, part_.data());
      } else {
        std::fill_n(part_.data(), part_.size(), Complex());
        add_products(group, coefficients, part_.data());
      }
      multiply_by_factor(group, part_.data(), 1);
      parallel_blocks(field_.size(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) sum_.data()[i] += part_.data()[i];
      });
    }
    parallel_blocks(field_.size(), [&](std::int64_t begin, std::int64_t end) {
      normalise(floats(sum_.data() + begin), keep ? 1.0F : 0.0F, end - begin, floats(field_.data() + begin));
    });
  }

  void sum_modulated(std::span<Wave> values, int levels) override {
    if (levels == 0) return look_at(field_.data(), values);
    reserve(rounded_, field_.size());
    round_to(levels, rounded_.data());
    look_at(rounded_.data(), values);
  }
  void sum_unmodulated(std::span<Wave> values) override {
    Array<Complex, 1> light({field_.size()});
    std::fill_n(light.data(), light.size(), Complex(1));
    if (!light_phase_.empty()) std::ranges::copy(light_phase_, light.data());
    look_at(light.data(), values);
  }

  [[nodiscard]] std::int64_t nx() const { return options().grid.nx; }
  [[nodiscard]] std::int64_t ny() const { return options().grid.ny; }
  [[nodiscard]] int columns() const { return static_cast<int>(nx()); }
  [[nodiscard]] int rows() const { return static_cast<int>(ny()); }
  [[nodiscard]] double first_x() const { return -0.5 * static_cast<double>(nx() - 1); }
  [[nodiscard]] double first_y() const { return 0.5 * static_cast<double>(ny() - 1); }  // rows go down

  /// Calls use(pixel, turns of the panel's phase).
  template <class Use>
  void for_each_pixel(const Use& use) const {
    parallel_blocks(field_.size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        Complex value = field_.data()[i];
        if (!light_phase_.empty()) value *= std::conj(light_phase_[static_cast<std::size_t>(i)]);
        use(i, std::arg(value) * static_cast<float>(0.5 * std::numbers::inv_pi));
      }
    });
  }

  /// The field at a pixel for a phase of the panel.
  [[nodiscard]] Complex pixel_wave(std::int64_t i, float turns) const {
    float sine = 0;
    float cosine = 0;
    sincos_turns(reduce_turns(static_cast<double>(turns)), sine, cosine);
    const Complex wave(cosine, sine);
    return light_phase_.empty() ? wave : wave * light_phase_[static_cast<std::size_t>(i)];
  }

  void round_to(int levels, Complex* target) const {
    const auto count = static_cast<float>(levels);
    for_each_pixel([&](std::int64_t i, float turns) { target[i] = pixel_wave(i, std::round(count * turns) / count); });
  }

  /// Tables {spots, nx} and {spots, ny} of some of a group's waves; that along x times the coefficients, if any.
  void fill_tables(std::span<const std::uint32_t> some, std::span<const Wave> coefficients) {
    const auto count = static_cast<std::int64_t>(some.size());
    reserve(columns_, count * nx());
    reserve(rows_, count * ny());
    parallel_for(0, count, [&](std::int64_t k) {
      const auto index = some[static_cast<std::size_t>(k)];
      const auto& spot = spots_[index];
      const double chirp = wave_.chirp(spot.z_m);
      const auto factor = coefficients.empty() ? Complex(1) : Complex(coefficients[index]);
      fill_axis({first_x(), spot.fx, chirp, factor}, nx(), floats(columns_.data() + k * nx()));
      // Y falls along the rows.
      fill_axis({-first_y(), -spot.fy, chirp, Complex(1)}, ny(), floats(rows_.data() + k * ny()));
    });
  }

  template <class Use>
  static void for_each_chunk(const SpotGroup& group, const Use& use) {
    for (std::size_t first = 0; first < group.spots.size(); first += chunk_spots) {
      use(std::span(group.spots).subspan(first, std::min(chunk_spots, group.spots.size() - first)));
    }
  }

  void add_products(const SpotGroup& group, std::span<const Wave> coefficients, Complex* target) {
    for_each_chunk(group, [&](std::span<const std::uint32_t> some) {
      fill_tables(some, coefficients);
      blas::multiply(blas::Operand::transposed, blas::Operand::plain, rows(), columns(), static_cast<int>(some.size()),
                     rows_.data(), rows(), columns_.data(), columns(), 1, target, columns());
    });
  }

  void look_at(const Complex* field, std::span<Wave> values) {
    reserve(part_, field_.size());
    const double share = 1 / static_cast<double>(field_.size());
    for (const auto& group : groups_) {
      const Complex* light = field;
      if (group.has_factor || !amplitude_.empty()) {
        parallel_blocks(field_.size(), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            part_.data()[i] = (amplitude_.empty() ? 1.0F : amplitude_[static_cast<std::size_t>(i)]) * field[i];
          }
        });
        multiply_by_factor(group, part_.data(), -1);
        light = part_.data();
      }
      if (group.is_plane) {
        transform_from(group, light, values);
      } else {
        multiply_products(group, light, values);
      }
      for (const auto i : group.spots) values[i] *= share;
    }
  }

  void multiply_products(const SpotGroup& group, const Complex* light, std::span<Wave> values) {
    for_each_chunk(group, [&](std::span<const std::uint32_t> some) {
      const auto count = static_cast<std::int64_t>(some.size());
      fill_tables(some, {});
      reserve(products_, ny() * count);
      const auto width = static_cast<int>(count);
      blas::multiply(blas::Operand::plain, blas::Operand::adjoint, rows(), width, columns(), light, columns(),
                     columns_.data(), columns(), 0, products_.data(), width);
      parallel_for(0, count, [&](std::int64_t k) {
        Wave sum;
        for (std::int64_t row = 0; row < ny(); ++row) {
          sum += Wave(products_.data()[row * count + k] * std::conj(rows_.data()[k * ny() + row]));
        }
        values[some[static_cast<std::size_t>(k)]] = sum;
      });
    });
  }

  /// Multiplies by the group's factor (side 1) or its conjugate.
  void multiply_by_factor(const SpotGroup& group, Complex* values, float side) const {
    if (!group.has_factor) return;
    parallel_for(0, ny(), [&](std::int64_t row) {
      const double y = first_y() - static_cast<double>(row);
      multiply_by_depth({first_x(), y * y, wave_.square, wave_.turns_per_m * group.z_m, group.is_plane ? 0 : 0.5, side},
                        nx(), floats(values + row * nx()));
    });
  }

  /// The transforms count columns and rows from floor(n / 2): turns of a wave from there to the panel's middle.
  [[nodiscard]] double middle_turns(const SpotPlace& spot) const {
    const double across = nx() % 2 == 0 ? 0.5 : 0;
    const double down = ny() % 2 == 0 ? 0.5 : 0;
    return spot.fx * across - spot.fy * down;
  }

  NufftPlan<float, 2>& placed_transform(const SpotGroup& group) {
    if (!transform_) transform_.emplace(options().grid.shape(), Queue(), NufftOptions{.tolerance = nufft_tolerance});
    Array<float, 2> points({static_cast<std::int64_t>(group.spots.size()), 2});
    for (std::int64_t k = 0; k < points.shape()[0]; ++k) {
      const auto& spot = spots_[group.spots[static_cast<std::size_t>(k)]];
      points.data()[2 * k] = static_cast<float>(-spot.fx);
      points.data()[2 * k + 1] = static_cast<float>(spot.fy);
    }
    transform_->set_points(points.view());
    strengths_.resize(group.spots.size());
    return *transform_;
  }

  void transform_to(const SpotGroup& group, std::span<const Wave> coefficients, Complex* target) {
    auto& plan = placed_transform(group);
    for (std::size_t k = 0; k < strengths_.size(); ++k) {
      const auto i = group.spots[k];
      strengths_[k] = Complex(coefficients[i] * std::polar(1.0, 2 * std::numbers::pi * middle_turns(spots_[i])));
    }
    plan.type1({strengths_.data(), {std::ssize(strengths_)}}, {target, options().grid.shape()});
  }

  void transform_from(const SpotGroup& group, const Complex* light, std::span<Wave> values) {
    auto& plan = placed_transform(group);
    plan.type2({light, options().grid.shape()}, View<Complex, 1>(strengths_.data(), {std::ssize(strengths_)}));
    for (std::size_t k = 0; k < strengths_.size(); ++k) {
      const auto i = group.spots[k];
      values[i] = Wave(strengths_[k]) * std::polar(1.0, -2 * std::numbers::pi * middle_turns(spots_[i]));
    }
  }

  DepthWave wave_;
  std::vector<SpotPlace> spots_;
  std::vector<SpotGroup> groups_;
  std::vector<float> amplitude_;      ///< of the light; empty: 1
  std::vector<Complex> light_phase_;  ///< of modulus 1
  Array<Complex, 2> field_;           ///< E, with the light's phase
  Array<Complex, 2> sum_;
  Array<Complex, 1> part_;
  Array<Complex, 1> rounded_;
  Array<Complex, 1> columns_;
  Array<Complex, 1> rows_;
  Array<Complex, 1> products_;
  std::optional<NufftPlan<float, 2>> transform_;
  std::vector<Complex> strengths_;
};

}  // namespace

std::unique_ptr<Engine> make_engine_cpu(const SpotOptions& options) { return std::make_unique<CpuEngine>(options); }

}  // namespace holotone::spots
