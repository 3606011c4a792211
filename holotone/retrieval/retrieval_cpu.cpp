#include <algorithm>
#include <array>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/retrieval/light_path_cpu.hpp>
#include <holotone/retrieval/retrieval_math.h>

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

/// Sum of a_i b_i in eight sums at once.
double dot_product(const float* a, const float* b, std::int64_t count) {
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  for (; i < count; ++i) sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  double sum = 0;
  for (const double value : sums) sum += value;
  return sum;
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
    const std::size_t pictures = plane_count_ * max_positions;
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
    for (std::size_t p = 0; p < max_positions; ++p) {
      auto& target = targets_[plane * max_positions + p];
      for (std::int64_t row = 0; row < region.rows; ++row) {
        std::copy_n(&moved[p](region.row + row, region.column), region.columns, &target(row, 0));
      }
    }
  }

  void set_measured(const float* amplitude) override {
    const auto& region = options_.region;
    measured_.clear();
    for (std::size_t i = 0; i < plane_count_ * positions_; ++i) {
      auto& goal = measured_.emplace_back(Shape<2>{region.rows, region.columns});
      const float* const picture = amplitude + static_cast<std::int64_t>(i) * ny_ * nx_;
      for (std::int64_t row = 0; row < region.rows; ++row) {
        std::copy_n(picture + (region.row + row) * nx_ + region.column, region.columns, &goal(row, 0));
      }
    }
  }

  void propagate(const float* phase, std::size_t positions) override {
    positions_ = positions;
    measured_.clear();
    panel_light_ = 0;
    for (std::int64_t t = 0; t < options_.frames; ++t) {
      path_->start_panel();
      std::vector<double> rows(static_cast<std::size_t>(ny_));
      parallel_for(0, ny_, [&](std::int64_t y) { rows[static_cast<std::size_t>(y)] = write_panel(phase, t, y); });
      for (const double row : rows) panel_light_ += row / static_cast<double>(options_.frames);
      path_->send_panel();
      each_picture([&](std::size_t plane, std::size_t position) {
        path_->receive(plane, position);
        take_light(plane, position, t);
      });
    }
  }

  [[nodiscard]] double panel_light() const override { return panel_light_; }

  [[nodiscard]] std::vector<RegionSums> sums(RetrievalLoss loss) const override {
    std::vector<RegionSums> result;
    each_picture([&](std::size_t plane, std::size_t position) {
      const float* const amplitude = seen(plane, position).data();
      const float* const target = targets_[plane * max_positions + position].data();
      result.push_back(loss == RetrievalLoss::amplitude
                           ? compute_sums(amplitude, target, [](double value) { return value; })
                           : compute_sums(amplitude, target, [](double value) { return value * value; }));
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
    const auto factor = static_cast<float>(gain);
    each_frame_back(s, RetrievalLoss::amplitude, [&](std::int64_t t, std::int64_t y, const Complex* back) {
      for (std::int64_t x = 0; x < nx_; ++x) {
        const std::int64_t i = (t * ny_ + y) * nx_ + x;
        const Complex wave = modulated(phase[i], y, x) - factor * back[x];
        next[i] = std::arg(source_.empty() ? wave : product_conjugate(wave, source_(y, x)));
      }
    });
  }

  void reweigh() override {
    if (goals_.empty()) {
      for (const auto& target : targets_) goals_.push_back(copy_of(target.view(), Device{}));
    }
    double wanted = 0;
    double grown = 0;
    each_picture([&](std::size_t plane, std::size_t position) {
      const std::size_t slot = plane * max_positions + position;
      const float* const amplitude = seen(plane, position).data();
      const float* const target = targets_[slot].data();
      float* const goal = goals_[slot].data();
      for_each(goals_[slot].size(), [&](std::int64_t i) { goal[i] *= goal_growth(target[i], amplitude[i]); });
      const auto square = [](float value) { return static_cast<double>(value) * static_cast<double>(value); };
      wanted += sum_over(goals_[slot].size(), [&](std::int64_t i) { return square(target[i]); });
      grown += sum_over(goals_[slot].size(), [&](std::int64_t i) { return square(goal[i]); });
    });
    const auto scale = static_cast<float>(grown > 0 ? std::sqrt(wanted / grown) : 0);
    each_picture([&](std::size_t plane, std::size_t position) {
      const std::size_t slot = plane * max_positions + position;
      const float* const target = targets_[slot].data();
      float* const goal = goals_[slot].data();
      for_each(goals_[slot].size(), [&](std::int64_t i) { goal[i] = bounded_goal(scale * goal[i], target[i]); });
    });
  }

  void clear_weights() override { goals_.clear(); }

  void amplitude(std::size_t plane, std::size_t position, float* out) const override {
    std::fill_n(out, ny_ * nx_, 0.0F);
    const auto& region = options_.region;
    const auto& amplitude = amplitude_[plane * max_positions + position];
    for (std::int64_t row = 0; row < region.rows; ++row) {
      std::copy_n(&amplitude(row, 0), region.columns, out + (region.row + row) * nx_ + region.column);
    }
  }

  [[nodiscard]] PositionWaves waves(std::size_t plane, std::int64_t frame) const override {
    PositionWaves result;
    for (std::size_t p = 0; p < positions_; ++p) {
      const auto slot = (static_cast<std::size_t>(frame) * plane_count_ + plane) * max_positions + p;
      result[p] = copy_of(light_[slot].view(), Device{});
    }
    return result;
  }

  [[nodiscard]] std::vector<double> dots(std::span<const float* const> a,
                                         std::span<const float* const> b) const override {
    const std::size_t pairs = a.size() * b.size();
    const auto parts = static_cast<std::size_t>((size_ + part_size - 1) / part_size);
    std::vector<double> sums(parts * pairs);
    parallel_for(0, static_cast<std::int64_t>(parts), [&](std::int64_t part) {
      const std::int64_t first = part * part_size;
      double* part_sums = &sums[static_cast<std::size_t>(part) * pairs];
      for (const float* const left : a) {
        for (const float* const right : b)
          *part_sums++ = dot_product(left + first, right + first, std::min(part_size, size_ - first));
      }
    });
    std::vector<double> result(pairs);
    for (std::size_t i = 0; i < sums.size(); ++i) result[i % pairs] += sums[i];
    return result;
  }

  void combine(std::span<const double> factors, std::span<const float* const> vectors, float* out) const override {
    constexpr std::int64_t most = 1024;
    parallel_for(0, (size_ + most - 1) / most, [&](std::int64_t part) {
      const std::int64_t first = part * most;
      const std::int64_t count = std::min(most, size_ - first);
      std::array<float, most> sum{};
      for (std::size_t k = 0; k < vectors.size(); ++k) {
        const auto factor = static_cast<float>(factors[k]);
        const float* const vector = vectors[k] + first;
        for (std::int64_t i = 0; i < count; ++i) sum[static_cast<std::size_t>(i)] += factor * vector[i];
      }
      std::copy_n(sum.data(), count, out + first);
    });
  }

  void adam(const float* derivative, float* m, float* v, float* phase, double rate, int iteration) const override {
    const AdamStep step = adam_step(rate, iteration);
    for_each(size_, [&](std::int64_t i) { move_by_adam(step, derivative[i], m[i], v[i], phase[i]); });
  }

  [[nodiscard]] std::vector<std::int64_t> level_distances(const float* phase,
                                                          const std::vector<float>& levels) const override {
    std::vector<std::int64_t> bins(level_bins);
    for (std::int64_t i = 0; i < size_; ++i) {
      ++bins[static_cast<std::size_t>(level_bin(nearest(phase[i], levels).distance, level_bins))];
    }
    return bins;
  }

  void round_to_levels(float* phase, const std::vector<float>& levels, float reach) const override {
    for_each(size_, [&](std::int64_t i) {
      const Nearest level = nearest(phase[i], levels);
      if (level.distance <= reach) phase[i] = level.level;
    });
  }

  void hold_levels(const float* phase, const std::vector<float>& levels, float* derivative) const override {
    for_each(size_, [&](std::int64_t i) {
      if (nearest(phase[i], levels).distance == 0) derivative[i] = 0;
    });
  }

 private:
  static Nearest nearest(float phase, const std::vector<float>& levels) {
    return nearest_level(phase, levels.data(), static_cast<int>(levels.size()));
  }
  template <class Body>
  void each_picture(const Body& body) const {
    for (std::size_t plane = 0; plane < plane_count_; ++plane) {
      for (std::size_t position = 0; position < positions_; ++position) body(plane, position);
    }
  }

  [[nodiscard]] Array<Complex, 2>& light(std::size_t plane, std::size_t position, std::int64_t frame) {
    return light_[(static_cast<std::size_t>(frame) * plane_count_ + plane) * max_positions + position];
  }
  /// Amplitude of the frames together, measured if there is a camera.
  [[nodiscard]] const Array<float, 2>& seen(std::size_t plane, std::size_t position) const {
    return measured_.empty() ? amplitude_[plane * max_positions + position] : measured_[plane * positions_ + position];
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
    const float* const row = phase + (t * ny_ + y) * nx_;
    double sum = 0;
    for (std::int64_t x = 0; x < nx_; ++x) {
      out[x] = modulated(row[x], y, x);
      if (zero_order != 0) out[x] += zero_order * (source_.empty() ? Complex{1} : source_(y, x));
      sum += static_cast<double>(std::norm(out[x]));
    }
    return sum;
  }

  /// Keeps the light of a frame, and the amplitude of all of them after the last.
  void take_light(std::size_t plane, std::size_t position, std::int64_t t) {
    const auto& region = options_.region;
    auto& kept = light(plane, position, t);
    auto& amplitude = amplitude_[plane * max_positions + position];
    const bool is_last = t + 1 == options_.frames;
    const float share = 1 / static_cast<float>(options_.frames);
    parallel_for(0, region.rows, [&](std::int64_t row) {
      const Complex* const light = path_->picture_row(row);
      Complex* const out = &kept(row, 0);
      float* const sum = &amplitude(row, 0);
      for (std::int64_t x = 0; x < region.columns; ++x) {
        out[x] = light[x];
        const float all = (t == 0 ? 0.0F : sum[x]) + std::norm(light[x]);
        sum[x] = is_last ? std::sqrt(share * all) : all;
      }
    });
  }

  template <class Function>
  [[nodiscard]] RegionSums compute_sums(const float* amplitude, const float* target, const Function& q) const {
    const auto& region = options_.region;
    std::vector<RegionSums> rows(static_cast<std::size_t>(region.rows));
    parallel_for(0, region.rows, [&](std::int64_t row) {
      RegionSums sums;
      for (std::int64_t i = row * region.columns; i < (row + 1) * region.columns; ++i) {
        const auto seen = static_cast<double>(amplitude[i]);
        const double light = q(seen);
        const double wanted = q(static_cast<double>(target[i]));
        sums.energy += seen * seen;
        sums.light += light * light;
        sums.agreement += light * wanted;
        sums.target += wanted * wanted;
      }
      rows[static_cast<std::size_t>(row)] = sums;
    });
    RegionSums all;
    for (const auto& row : rows) {
      all.energy += row.energy;
      all.light += row.light;
      all.agreement += row.agreement;
      all.target += row.target;
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
    const std::size_t slot = plane * max_positions + position;
    const auto& target = goals_.empty() ? targets_[slot] : goals_[slot];
    const auto& measured = seen(plane, position);
    const auto& kept = light(plane, position, t);
    const float gain = static_cast<float>(options_.planes[plane].weight) * s;
    const bool of_intensity = loss == RetrievalLoss::intensity;
    parallel_for(0, options_.region.rows, [&](std::int64_t row) {
      Complex* const out = path_->picture_row(row);
      const Complex* const in = &kept(row, 0);
      const float* const simulated = &amplitude_[slot](row, 0);
      const float* const a = &measured(row, 0);
      const float* const wanted = &target(row, 0);
      for (std::int64_t x = 0; x < options_.region.columns; ++x) {
        out[x] = in[x] * error_factor(of_intensity, s, gain, simulated[x], a[x], wanted[x]);
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
  double panel_light_ = 0;
};

}  // namespace

std::unique_ptr<Engine> engine_cpu(const PhaseRetrievalOptions& options) {
  return std::make_unique<CpuEngine>(options);
}

}  // namespace holotone::retrieval
