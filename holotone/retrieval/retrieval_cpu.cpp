#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/retrieval/light_path_cpu.hpp>
#include <numbers>

namespace holotone::retrieval {
namespace {

constexpr std::int64_t part_size = 16384;  ///< of a vector, summed by one thread in float64

/// Sum of body(i) over a vector, in parts whose order does not depend on the number of threads.
template <class Body>
double sum_over(std::int64_t count, const Body& body) {
  std::vector<double> parts(static_cast<std::size_t>((count + part_size - 1) / part_size));
  parallel_for(0, std::ssize(parts), [&](std::int64_t part) {
    double sum = 0;
    for (std::int64_t i = part * part_size; i < std::min(count, (part + 1) * part_size); ++i) sum += body(i);
    parts[static_cast<std::size_t>(part)] = sum;
  });
  double all = 0;
  for (const double part : parts) all += part;
  return all;
}

template <class Body>
void for_each(std::int64_t count, const Body& body) {
  parallel_for(0, (count + part_size - 1) / part_size, [&](std::int64_t part) {
    for (std::int64_t i = part * part_size; i < std::min(count, (part + 1) * part_size); ++i) body(i);
  });
}

/// Nearest level on the circle, and the distance to it. Levels sorted, in [0, 2 pi).
struct Nearest {
  float level = 0;
  float distance = 0;
};
Nearest nearest_level(float phase, const std::vector<float>& levels) {
  constexpr float turn = 2 * std::numbers::pi_v<float>;
  const float own = phase >= 0 && phase < turn ? phase : phase - turn * std::floor(phase / turn);
  const auto above = std::ranges::lower_bound(levels, own);
  const Nearest up =
      above == levels.end() ? Nearest{levels.front(), levels.front() + turn - own} : Nearest{*above, *above - own};
  const Nearest down = above == levels.begin() ? Nearest{levels.back(), own + turn - levels.back()}
                                               : Nearest{*(above - 1), own - *(above - 1)};
  return up.distance < down.distance ? up : down;
}

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const PhaseRetrievalOptions& options)
      : options_(options),
        ny_(options.grid.ny),
        nx_(options.grid.nx),
        size_(options.frames * ny_ * nx_),
        path_(options.focal_length_m > 0 ? lens_path(options) : free_space_path(options)),
        plane_count_(options.planes.size()) {
    const Shape<2> region{options.region.rows, options.region.columns};
    const std::size_t pictures = plane_count_ * most_positions;
    for (std::size_t i = 0; i < pictures; ++i) {
      amplitude_.emplace_back(region);
      targets_.emplace_back(region);
    }
    for (std::size_t i = 0; i < pictures * static_cast<std::size_t>(options.frames); ++i) light_.emplace_back(region);
  }

  void set_source(const Complex* light) override {
    source_ = Array<Complex, 2>({ny_, nx_});
    std::copy_n(light, ny_ * nx_, source_.data());
  }

  void set_target(std::size_t plane, const float* amplitude) override {
    const auto& region = options_.region;
    const auto moved = at_half_pixels({amplitude, {ny_, nx_}});
    for (std::size_t p = 0; p < most_positions; ++p) {
      auto& target = targets_[plane * most_positions + p];
      for (std::int64_t row = 0; row < region.rows; ++row) {
        std::copy_n(&moved[p](region.row + row, region.column), region.columns, &target(row, 0));
      }
    }
  }

  void set_measured(const float* amplitude) override {
    const auto& region = options_.region;
    measured_.clear();
    for (std::size_t i = 0; i < plane_count_ * positions_; ++i) {
      auto& own = measured_.emplace_back(Shape<2>{region.rows, region.columns});
      const float* const picture = amplitude + static_cast<std::int64_t>(i) * ny_ * nx_;
      for (std::int64_t row = 0; row < region.rows; ++row) {
        std::copy_n(picture + (region.row + row) * nx_ + region.column, region.columns, &own(row, 0));
      }
    }
  }

  double propagate(const float* phase, std::size_t positions) override {
    positions_ = positions;
    measured_.clear();
    double panel = 0;
    for (std::int64_t t = 0; t < options_.frames; ++t) {
      path_->start_panel();
      std::vector<double> rows(static_cast<std::size_t>(ny_));
      parallel_for(0, ny_, [&](std::int64_t y) { rows[static_cast<std::size_t>(y)] = write_panel(phase, t, y); });
      for (const double row : rows) panel += row;
      path_->send_panel();
      each_picture([&](std::size_t plane, std::size_t position) {
        path_->receive(plane, position);
        take_light(plane, position, t);
      });
    }
    return panel / static_cast<double>(options_.frames);
  }

  [[nodiscard]] std::vector<RegionSums> sums(RetrievalLoss loss) const override {
    std::vector<RegionSums> result;
    each_picture([&](std::size_t plane, std::size_t position) {
      const float* const amplitude = seen(plane, position).data();
      const float* const target = targets_[plane * most_positions + position].data();
      result.push_back(loss == RetrievalLoss::amplitude
                           ? sums_of(amplitude, target, [](double value) { return value; })
                           : sums_of(amplitude, target, [](double value) { return value * value; }));
    });
    return result;
  }

  void differentiate(const float* phase, double s, float* derivative) override {
    const float share = 1 / static_cast<float>(options_.frames);
    each_frame_back(s, options_.loss, [&](std::int64_t t, std::int64_t y, const Complex* back) {
      for (std::int64_t x = 0; x < nx_; ++x) {
        const std::int64_t i = (t * ny_ + y) * nx_ + x;
        derivative[i] = share * product_conjugate(back[x], modulated(phase[i], y, x)).imag();
      }
    });
  }

  void project(const float* phase, double s, double gain, float* next) override {
    const auto own = static_cast<float>(gain);
    each_frame_back(s, RetrievalLoss::amplitude, [&](std::int64_t t, std::int64_t y, const Complex* back) {
      for (std::int64_t x = 0; x < nx_; ++x) {
        const std::int64_t i = (t * ny_ + y) * nx_ + x;
        const Complex wave = modulated(phase[i], y, x) - own * back[x];
        next[i] = std::arg(source_.empty() ? wave : product_conjugate(wave, source_(y, x)));
      }
    });
  }

  void reweigh() override {
    constexpr float most = 10;  // times the target, either way: light that cannot come must not rule the rest
    if (goals_.empty()) {
      for (const auto& target : targets_) goals_.push_back(copy_of(target.view(), Device{}));
    }
    double wanted = 0;
    double grown = 0;
    each_picture([&](std::size_t plane, std::size_t position) {
      const std::size_t own = plane * most_positions + position;
      const float* const amplitude = seen(plane, position).data();
      const float* const target = targets_[own].data();
      float* const goal = goals_[own].data();
      for_each(goals_[own].size(), [&](std::int64_t i) { goal[i] *= amplitude[i] > 0 ? target[i] / amplitude[i] : 1; });
      const auto square = [](float value) { return static_cast<double>(value) * static_cast<double>(value); };
      wanted += sum_over(goals_[own].size(), [&](std::int64_t i) { return square(target[i]); });
      grown += sum_over(goals_[own].size(), [&](std::int64_t i) { return square(goal[i]); });
    });
    const auto scale = static_cast<float>(grown > 0 ? std::sqrt(wanted / grown) : 0);
    each_picture([&](std::size_t plane, std::size_t position) {
      const std::size_t own = plane * most_positions + position;
      const float* const target = targets_[own].data();
      float* const goal = goals_[own].data();
      for_each(goals_[own].size(),
               [&](std::int64_t i) { goal[i] = std::clamp(scale * goal[i], target[i] / most, target[i] * most); });
    });
  }

  void clear_weights() override { goals_.clear(); }

  void amplitude(std::size_t plane, std::size_t position, float* out) const override {
    std::fill_n(out, ny_ * nx_, 0.0F);
    const auto& region = options_.region;
    const auto& own = amplitude_[plane * most_positions + position];
    for (std::int64_t row = 0; row < region.rows; ++row) {
      std::copy_n(&own(row, 0), region.columns, out + (region.row + row) * nx_ + region.column);
    }
  }

  double dot(const float* a, const float* b) const override {
    return sum_over(size_, [&](std::int64_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
  }

  void add(double factor, const float* x, float* y) const override {
    const auto own = static_cast<float>(factor);
    for_each(size_, [&](std::int64_t i) { y[i] += own * x[i]; });
  }

  void scale(double factor, float* x) const override {
    const auto own = static_cast<float>(factor);
    for_each(size_, [&](std::int64_t i) { x[i] *= own; });
  }

  void adam(const float* derivative, float* m, float* v, float* phase, double rate, int iteration) const override {
    constexpr double keep_m = 0.9;
    constexpr double keep_v = 0.999;
    const auto unbias_m = static_cast<float>(1 / (1 - std::pow(keep_m, iteration)));
    const auto unbias_v = static_cast<float>(1 / (1 - std::pow(keep_v, iteration)));
    const auto own = static_cast<float>(rate);
    for_each(size_, [&](std::int64_t i) {
      const float slope = derivative[i];
      const float old_m = iteration == 1 ? 0.0F : m[i];
      const float old_v = iteration == 1 ? 0.0F : v[i];
      m[i] = static_cast<float>(keep_m) * old_m + static_cast<float>(1 - keep_m) * slope;
      v[i] = static_cast<float>(keep_v) * old_v + static_cast<float>(1 - keep_v) * slope * slope;
      phase[i] -= own * unbias_m * m[i] / (std::sqrt(unbias_v * v[i]) + 1e-12F);
    });
  }

  std::vector<std::int64_t> level_distances(const float* phase, const std::vector<float>& levels) const override {
    std::vector<std::int64_t> bins(level_bins);
    for (std::int64_t i = 0; i < size_; ++i) {
      const float distance = nearest_level(phase[i], levels).distance / std::numbers::pi_v<float>;
      const auto bin = static_cast<std::size_t>(distance * static_cast<float>(level_bins));
      ++bins[std::min(bin, level_bins - 1)];
    }
    return bins;
  }

  void round_to_levels(float* phase, const std::vector<float>& levels, float reach) const override {
    for_each(size_, [&](std::int64_t i) {
      const Nearest nearest = nearest_level(phase[i], levels);
      if (nearest.distance <= reach) phase[i] = nearest.level;
    });
  }

  void hold_levels(const float* phase, const std::vector<float>& levels, float* derivative) const override {
    for_each(size_, [&](std::int64_t i) {
      if (nearest_level(phase[i], levels).distance == 0) derivative[i] = 0;
    });
  }

 private:
  template <class Body>
  void each_picture(const Body& body) const {
    for (std::size_t plane = 0; plane < plane_count_; ++plane) {
      for (std::size_t position = 0; position < positions_; ++position) body(plane, position);
    }
  }

  [[nodiscard]] Array<Complex, 2>& light(std::size_t plane, std::size_t position, std::int64_t frame) {
    return light_[(static_cast<std::size_t>(frame) * plane_count_ + plane) * most_positions + position];
  }
  /// Amplitude of the frames together, measured if there is a camera.
  [[nodiscard]] const Array<float, 2>& seen(std::size_t plane, std::size_t position) const {
    return measured_.empty() ? amplitude_[plane * most_positions + position] : measured_[plane * positions_ + position];
  }

  /// A exp(i phi)
  [[nodiscard]] Complex modulated(float phase, std::int64_t y, std::int64_t x) const {
    const Complex wave = std::polar(1.0F, phase);
    return source_.empty() ? wave : product(wave, source_(y, x));
  }

  /// Writes a row of the panel's light; returns its sum of squares.
  double write_panel(const float* phase, std::int64_t t, std::int64_t y) {
    Complex* const out = path_->panel_row(y);
    const auto zero_order = static_cast<float>(options_.response.zero_order);
    const float* const own = phase + (t * ny_ + y) * nx_;
    double sum = 0;
    for (std::int64_t x = 0; x < nx_; ++x) {
      out[x] = modulated(own[x], y, x);
      if (zero_order != 0) out[x] += zero_order * (source_.empty() ? Complex{1} : source_(y, x));
      sum += static_cast<double>(std::norm(out[x]));
    }
    return sum;
  }

  /// Keeps the light of a frame, and the amplitude of all of them after the last.
  void take_light(std::size_t plane, std::size_t position, std::int64_t t) {
    const auto& region = options_.region;
    auto& kept = light(plane, position, t);
    auto& amplitude = amplitude_[plane * most_positions + position];
    const bool is_last = t + 1 == options_.frames;
    const float share = 1 / static_cast<float>(options_.frames);
    parallel_for(0, region.rows, [&](std::int64_t row) {
      const Complex* const own = path_->picture_row(row);
      Complex* const out = &kept(row, 0);
      float* const sum = &amplitude(row, 0);
      for (std::int64_t x = 0; x < region.columns; ++x) {
        out[x] = own[x];
        const float all = (t == 0 ? 0.0F : sum[x]) + std::norm(own[x]);
        sum[x] = is_last ? std::sqrt(share * all) : all;
      }
    });
  }

  template <class Function>
  [[nodiscard]] RegionSums sums_of(const float* amplitude, const float* target, const Function& q) const {
    const auto& region = options_.region;
    std::vector<RegionSums> rows(static_cast<std::size_t>(region.rows));
    parallel_for(0, region.rows, [&](std::int64_t row) {
      RegionSums sums;
      for (std::int64_t i = row * region.columns; i < (row + 1) * region.columns; ++i) {
        const auto own = static_cast<double>(amplitude[i]);
        const double light = q(own);
        const double wanted = q(static_cast<double>(target[i]));
        sums.energy += own * own;
        sums.light += light * light;
        sums.agreement += light * wanted;
        sums.target += wanted * wanted;
      }
      rows[static_cast<std::size_t>(row)] = sums;
    });
    RegionSums all;
    for (const auto& own : rows) {
      all.energy += own.energy;
      all.light += own.light;
      all.agreement += own.agreement;
      all.target += own.target;
    }
    return all;
  }

  /// Calls use(frame, row, G) with G = sum_kp w_k P_kp^H [ factor P_kp u_t ].
  template <class Body>
  void each_frame_back(double s, RetrievalLoss loss, const Body& use) {
    for (std::int64_t t = 0; t < options_.frames; ++t) {
      path_->start_back();
      each_picture([&](std::size_t plane, std::size_t position) {
        path_->start_picture();
        write_errors(plane, position, t, static_cast<float>(s), loss);
        path_->send_back(plane, position);
      });
      path_->receive_back();
      parallel_for(0, ny_, [&](std::int64_t y) { use(t, y, path_->panel_row(y)); });
    }
  }

  void write_errors(std::size_t plane, std::size_t position, std::int64_t t, float s, RetrievalLoss loss) {
    const std::size_t own = plane * most_positions + position;
    const auto& target = goals_.empty() ? targets_[own] : goals_[own];
    const auto& measured = seen(plane, position);
    const auto& kept = light(plane, position, t);
    const auto weight = static_cast<float>(options_.planes[plane].weight);
    const float gain = weight * s;
    parallel_for(0, options_.region.rows, [&](std::int64_t row) {
      Complex* const out = path_->picture_row(row);
      const Complex* const in = &kept(row, 0);
      const float* const simulated = &amplitude_[own](row, 0);
      const float* const a = &measured(row, 0);
      const float* const wanted = &target(row, 0);
      for (std::int64_t x = 0; x < options_.region.columns; ++x) {
        if (loss == RetrievalLoss::amplitude) {
          const float excess = gain * (s * a[x] - wanted[x]);
          out[x] = simulated[x] > 0 ? in[x] * (excess / simulated[x]) : Complex{};
        } else {
          out[x] = in[x] * (2 * gain * (s * a[x] * a[x] - wanted[x] * wanted[x]));
        }
      }
    });
  }

  PhaseRetrievalOptions options_;
  std::int64_t ny_;
  std::int64_t nx_;
  std::int64_t size_;  ///< of vectors
  std::unique_ptr<LightPath> path_;
  std::size_t plane_count_;
  Array<Complex, 2> source_;               ///< empty: 1
  std::vector<Array<float, 2>> targets_;   ///< plane by plane, four positions; over the region
  std::vector<Array<float, 2>> goals_;     ///< reweighed targets, or none
  std::vector<Array<float, 2>> measured_;  ///< amplitudes by the camera, or none
  std::vector<Array<float, 2>> amplitude_;
  std::vector<Array<Complex, 2>> light_;  ///< frame by frame, plane by plane, four positions
  std::size_t positions_ = 0;             ///< of the last propagate
};

}  // namespace

std::unique_ptr<Engine> engine_cpu(const PhaseRetrievalOptions& options) {
  return std::make_unique<CpuEngine>(options);
}

}  // namespace holotone::retrieval
