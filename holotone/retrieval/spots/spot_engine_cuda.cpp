// Spots on CUDA: matrix products, their numbers normalised and updated by kernels, all steps of a call as one graph.
#include <algorithm>
#include <cmath>
#include <holotone/core/array.hpp>
#include <holotone/core/graph_cuda.hpp>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <map>
#include <optional>
#include <tuple>

namespace holotone::spots {
namespace {

using cuda::MatrixElement;
using cuda::MatrixProduct;
using cuda::MatrixProductChoice;

/// Spots of a group are padded to this number, columns of a table to `column_padding`.
constexpr std::size_t spot_padding = 64;
constexpr int column_padding = 64;
constexpr int max_batch = 64;
constexpr std::size_t max_graphs = 16;
/// Light that spots may be expected to have: the scale of weights at the first step.
constexpr double expected_light = 0.8;
/// Size of what spots lack, in their amplitudes' means, in fp16 and fp8.
constexpr double lack_scale = 10;
constexpr float fp8_scale = 8;

std::size_t padded(std::size_t count, std::size_t to) { return (count + to - 1) / to * to; }

template <class T>
void upload(Array<T, 1>& target, const std::vector<T>& source, const Queue& queue) {
  const auto count = static_cast<std::int64_t>(source.size());
  if (target.shape()[0] != count || target.data() == nullptr) target = Array<T, 1>({count}, queue);
  copy_bytes(target.data(), queue.device(), source.data(), Device{}, source.size() * sizeof(T), queue);
}
template <class T>
std::vector<T> download(const Array<T, 1>& source, const Queue& queue) {
  std::vector<T> result(static_cast<std::size_t>(source.size()));
  copy_bytes(result.data(), Device{}, source.data(), queue.device(), result.size() * sizeof(T), queue);
  queue.synchronize();
  return result;
}

float2 to_float2(Wave value) { return {static_cast<float>(value.real()), static_cast<float>(value.imag())}; }

/// A group of spots as matrix products.
struct Products {
  int first = 0;  ///< its first spot in the padded order
  int count = 0;  ///< with padding
  DepthFactor depth;
  Array<__half, 1> table;       ///< {planes, count, width}
  Array<__half, 1> transposed;  ///< {planes, width, count}
  Array<std::uint8_t, 1> narrow;
  Array<__half, 1> waves;     ///< V {planes, rows, count}, of fp16 or fp8
  Array<__half, 1> products;  ///< P {planes, rows, count}
  std::optional<MatrixProduct> to_panel;
  std::optional<MatrixProduct> to_panel_narrow;
  std::optional<MatrixProduct> from_panel;
};

class CudaEngine final : public Engine {
 public:
  CudaEngine(const SpotOptions& options, const Queue& queue)
      : options_(options),
        wave_(options),
        queue_(queue),
        panel_{static_cast<int>(options.grid.nx), static_cast<int>(options.grid.ny), 0, ProductForm::plane},
        turns_({pixels()}, queue),
        other_turns_({pixels()}, queue),
        sums_({2 * (max_batch + 1)}, queue),
        scratch_({static_cast<std::int64_t>(MatrixProduct::workspace_bytes)}, queue) {
    const cuda::DeviceScope scope(queue_.device());
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, queue_.device().index), "cudaGetDeviceProperties");
    has_clusters_ = properties.major >= 9;
    has_narrow_ = properties.major > 8 || (properties.major == 8 && properties.minor == 9);
    cuda::check(cudaMemsetAsync(turns_.data(), 0, turns_.bytes(), stream()), "cudaMemsetAsync");
  }

  void set_light(const Complex* light) override {
    const cuda::DeviceScope scope(queue_.device());
    if (light == nullptr) {
      light_ = {};
    } else {
      std::vector<float2> values(static_cast<std::size_t>(pixels()));
      double square = 0;
      for (std::size_t i = 0; i < values.size(); ++i) square += static_cast<double>(std::norm(light[i]));
      const auto scale = static_cast<float>(1 / std::sqrt(square / static_cast<double>(values.size())));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = {scale * light[i].real(), scale * light[i].imag()};
      upload(light_, values, queue_);
    }
    graphs_.clear();
    cuda::check(cudaMemsetAsync(turns_.data(), 0, turns_.bytes(), stream()), "cudaMemsetAsync");
    if (panel_.width > 0) {
      place_light();
      field_from_turns();
    }
    add_zero_order();
  }

  void set_spots(const SpotScene& scene) override {
    const cuda::DeviceScope scope(queue_.device());
    const double x = 0.5 * static_cast<double>(panel_.nx - 1);
    const double y = 0.5 * static_cast<double>(panel_.ny - 1);
    const auto groups = group_spots(scene.place, wave_, x * x + y * y, scene.place.size());
    arrange(scene, groups);
    place(scene);
    add_zero_order();
  }

  void start(std::span<const double> weight, std::span<const Wave> unit) override {
    const cuda::DeviceScope scope(queue_.device());
    std::vector<float> w(padded_count_, 0.0F);
    std::vector<float2> t(padded_count_, float2{1, 0});
    for (std::size_t m = 0; m < slot_.size(); ++m) {
      w[slot_[m]] = static_cast<float>(weight[m]);
      t[slot_[m]] = to_float2(unit[m]);
    }
    copy_to(weight_, w);
    copy_to(unit_, t);
    // The level only scales weights, until the first step has shown it.
    const std::vector<float> level{static_cast<float>(spots() * expected_light / target_square_), 0};
    copy_bytes(sums_.data(), queue_.device(), level.data(), Device{}, level.size() * sizeof(float), queue_);
    queue_.synchronize();
  }

  std::vector<double> take(std::span<const Step> steps) override {
    const cuda::DeviceScope scope(queue_.device());
    std::vector<double> light;
    while (!steps.empty()) {
      const auto some = steps.first(std::min<std::size_t>(steps.size(), max_batch));
      take_batch(some);
      std::vector<float> sums(2 * some.size());
      copy_bytes(sums.data(), Device{}, sums_.data() + 2, queue_.device(), sums.size() * sizeof(float), queue_);
      queue_.synchronize();
      for (std::size_t i = 0; i < some.size(); ++i) light.push_back(static_cast<double>(sums[2 * i + 1]));
      keep_level(some.size());
      steps = steps.subspan(some.size());
    }
    return light;
  }

  [[nodiscard]] int batch() const override { return max_batch; }

  void look(int levels) override {
    const cuda::DeviceScope scope(queue_.device());
    prepare(false);
    fill_dirty_tables(false);
    enqueue_look(levels, {.taken = Taken::look}, WaveType::half);
  }

  void read(std::span<Wave> value) const override {
    const auto values = download(value_, queue_);
    for (std::size_t m = 0; m < slot_.size(); ++m) {
      value[m] = Wave(static_cast<double>(values[slot_[m]].x), static_cast<double>(values[slot_[m]].y));
    }
  }

  void round(int levels) override {
    const cuda::DeviceScope scope(queue_.device());
    if (is_single_) {
      field_to_turns(panel_, field_.data(), light(), levels, turns_.data(), stream());
    } else {
      round_turns(turns_.data(), pixels(), levels, stream());
    }
    field_from_turns();
  }

  void set_phase(const float* phase_rad) override {
    const cuda::DeviceScope scope(queue_.device());
    copy_bytes(other_turns_.data(), queue_.device(), phase_rad, Device{}, other_turns_.bytes(), queue_);
    radians_to_turns(other_turns_.data(), pixels(), turns_.data(), stream());
    field_from_turns();
    queue_.synchronize();
  }

  void phase(float* phase_rad) const override {
    const cuda::DeviceScope scope(queue_.device());
    const float* turns = turns_.data();
    if (is_single_) {
      field_to_turns(panel_, field_.data(), light(), 0, other_turns_.data(), stream());
      turns = other_turns_.data();
    }
    turns_to_radians(turns, pixels(), other_turns_.data(), stream());
    copy_bytes(phase_rad, Device{}, other_turns_.data(), queue_.device(), other_turns_.bytes(), queue_);
    queue_.synchronize();
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  [[nodiscard]] std::int64_t pixels() const { return static_cast<std::int64_t>(panel_.nx) * panel_.ny; }
  [[nodiscard]] double spots() const { return static_cast<double>(slot_.size()); }
  [[nodiscard]] const float2* light() const { return light_.data(); }
  [[nodiscard]] float2* light() { return light_.data(); }

  template <class T>
  void copy_to(Array<T, 1>& target, const std::vector<T>& source) {
    copy_bytes(target.data(), queue_.device(), source.data(), Device{}, source.size() * sizeof(T), queue_);
    queue_.synchronize();
  }

  /// Chooses the form, and memory for the groups unless it is there.
  void arrange(const SpotScene& scene, const std::vector<SpotGroup>& groups) {
    const bool is_plane = std::ranges::all_of(scene.place, [](const SpotPlace& spot) { return spot.z_m == 0; });
    const ProductForm form = is_plane ? ProductForm::plane : ProductForm::space;
    std::vector<std::uint32_t> slot(scene.place.size());
    std::vector<int> counts;
    std::size_t next = 0;
    for (const auto& group : groups) {
      for (std::size_t k = 0; k < group.spots.size(); ++k) slot[group.spots[k]] = static_cast<std::uint32_t>(next + k);
      counts.push_back(static_cast<int>(padded(group.spots.size(), spot_padding)));
      next += static_cast<std::size_t>(counts.back());
    }
    const bool is_single = groups.size() == 1 && !groups.front().has_factor;
    const bool is_same = form == panel_.form && counts == counts_ && is_single == is_single_ && panel_.width > 0;
    if (!is_same || slot != slot_) move_state(slot, next);
    set_form(form, is_single);
    if (!is_same) allocate(counts);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const bool has_factor = groups[g].has_factor;
      groups_[g].depth = {wave_.square, has_factor ? wave_.turns_per_m * groups[g].z_m : 0.0};
    }
    // Depths are numbers in the recorded kernels.
    if (!is_single) graphs_.clear();
  }

  /// Brings weights and phases to new places in the padded order, if the number of spots is the same.
  void move_state(const std::vector<std::uint32_t>& slot, std::size_t count) {
    std::vector<float> weight(count, 0.0F);
    std::vector<float2> unit(count, float2{1, 0});
    std::vector<float2> value(count, float2{0, 0});
    if (slot.size() == slot_.size()) {
      const auto w = download(weight_, queue_);
      const auto t = download(unit_, queue_);
      const auto u = download(value_, queue_);
      for (std::size_t m = 0; m < slot.size(); ++m) {
        weight[slot[m]] = w[slot_[m]];
        unit[slot[m]] = t[slot_[m]];
        value[slot[m]] = u[slot_[m]];
      }
    }
    graphs_.clear();
    upload(weight_, weight, queue_);
    upload(unit_, unit, queue_);
    upload(value_, value, queue_);
    queue_.synchronize();
    slot_ = slot;
    padded_count_ = count;
  }

  void set_form(ProductForm form, bool is_single) {
    const int needed = form == ProductForm::plane ? 2 * ((panel_.nx + 1) / 2) : panel_.nx;
    const int width = (needed + column_padding - 1) / column_padding * column_padding;
    if (form == panel_.form && width == panel_.width && is_single == is_single_) return;
    if (panel_.width > 0 && is_single_) {
      field_to_turns(panel_, field_.data(), light(), 0, turns_.data(), stream());
    }
    panel_.form = form;
    panel_.width = width;
    is_single_ = is_single;
    field_ = Array<__half, 1>({panel_.numbers()}, queue_);
    other_field_ = Array<__half, 1>({panel_.numbers()}, queue_);
    sum_ = Array<__half, 1>({panel_.numbers()}, queue_);
    if (!is_single) whole_sum_ = Array<float2, 1>({pixels()}, queue_);
    place_light();
    field_from_turns();
    graphs_.clear();
    counts_.clear();
  }

  void allocate(const std::vector<int>& counts) {
    graphs_.clear();
    groups_.clear();
    counts_ = counts;
    takes_ = 0;
    int first = 0;
    const std::int64_t planes = panel_.planes();
    for (const int count : counts) {
      Products group;
      group.first = first;
      group.count = count;
      first += count;
      const std::int64_t table = planes * count * panel_.width;
      const std::int64_t rows = planes * count * panel_.rows();
      group.table = Array<__half, 1>({table}, queue_);
      group.transposed = Array<__half, 1>({table}, queue_);
      group.waves = Array<__half, 1>({rows}, queue_);
      group.products = Array<__half, 1>({rows}, queue_);
      group.to_panel.emplace(to_panel_shape(count, MatrixElement::float16), queue_, scratch_.data());
      group.from_panel.emplace(cuda::MatrixProductShape{.rows = panel_.rows(),
                                                        .columns = count,
                                                        .depth = panel_.width,
                                                        .batch = planes,
                                                        .half_output = true},
                               queue_, scratch_.data());
      groups_.push_back(std::move(group));
    }
  }

  [[nodiscard]] cuda::MatrixProductShape to_panel_shape(int count, MatrixElement element) const {
    return {.element = element,
            .rows = panel_.rows(),
            .columns = panel_.width,
            .depth = count,
            .batch = panel_.planes(),
            .half_output = true};
  }

  void place(const SpotScene& scene) {
    std::vector<float4> places(padded_count_, float4{0, 0, 0, 0});
    std::vector<float> shade(padded_count_, 1.0F);
    target_square_ = 0;
    for (std::size_t m = 0; m < scene.place.size(); ++m) {
      const auto& spot = scene.place[m];
      places[slot_[m]] = {static_cast<float>(spot.fx), static_cast<float>(spot.fy),
                          static_cast<float>(wave_.chirp(spot.z_m)), static_cast<float>(scene.target[m])};
      shade[slot_[m]] = static_cast<float>(scene.shade[m]);
      target_square_ += scene.target[m] * scene.target[m];
    }
    upload(place_, places, queue_);
    has_shade_ = options_.response.fill_factor != 0;
    if (has_shade_) upload(shade_, shade, queue_);
    queue_.synchronize();  // the vectors end here
    are_tables_dirty_ = true;
  }

  /// The light's amplitude in the layout, where it is not 1 everywhere.
  void place_light() {
    const bool is_filled = panel_.form == ProductForm::plane ? 2 * panel_.half() == panel_.nx
                                                             : panel_.width == panel_.nx;
    amplitude_ = {};
    if (light_.data() == nullptr && is_filled) return;
    amplitude_ = Array<__half, 1>({static_cast<std::int64_t>(panel_.ny) * panel_.width}, queue_);
    place_amplitude(panel_, light(), amplitude_.data(), stream());
  }

  void field_from_turns() {
    if (is_single_) turns_to_group(panel_, turns_.data(), light(), 0, {}, field_.data(), stream());
  }

  /// The zero order's field in the spots: sums of the light itself.
  void add_zero_order() {
    has_unmodulated_ = false;
    if (options_.response.zero_order == 0 || slot_.empty() || panel_.width == 0) return;
    prepare(false);
    fill_dirty_tables(false);
    for (auto& group : groups_) {
      turns_to_group(panel_, nullptr, light(), 0, group.depth, other_field_.data(), stream());
      sum_and_update(group, other_field_.data(), {.taken = Taken::look}, WaveType::half);
    }
    auto values = download(value_, queue_);
    const Wave factor = std::polar(options_.response.zero_order, options_.zero_order_phase_rad);
    for (auto& value : values) {
      value = to_float2(factor * Wave(static_cast<double>(value.x), static_cast<double>(value.y)));
    }
    upload(unmodulated_, values, queue_);
    queue_.synchronize();
    has_unmodulated_ = true;
    graphs_.clear();
  }

  /// Chooses the algorithms of products before they are recorded. The first steps of a shape run at once, later ones by
  /// the fastest algorithm; those of fp8 only then.
  void prepare(bool narrow) {
    const auto how = MatrixProduct::choice_after(takes_, false);
    for (auto& group : groups_) {
      group.to_panel->choose(how, group.waves.data(), group.transposed.data(), sum_.data());
      group.from_panel->choose(how, other_field_.data(), group.table.data(), group.products.data());
      if (!narrow || group.to_panel_narrow) continue;
      group.narrow = Array<std::uint8_t, 1>({group.table.size()}, queue_);
      group.to_panel_narrow.emplace(to_panel_shape(group.count, MatrixElement::float8), queue_, scratch_.data());
      group.to_panel_narrow->choose(how, group.waves.data(), group.narrow.data(), sum_.data());
      are_tables_dirty_ = true;
    }
  }

  void fill_dirty_tables(bool narrow) {
    if (!are_tables_dirty_) return;
    enqueue_tables(narrow);
    are_tables_dirty_ = false;
  }
  void enqueue_tables(bool narrow) {
    for (auto& group : groups_) {
      const float4* const spots = place_.data() + group.first;
      fill_tables(panel_, spots, group.count, group.table.data(), stream());
      fill_transposed(panel_, spots, group.count, WaveType::half, group.transposed.data(), stream());
      if (narrow) fill_transposed(panel_, spots, group.count, WaveType::fp8, group.narrow.data(), stream());
    }
  }

  [[nodiscard]] SpotArrays arrays(const Products& group) {
    SpotArrays result;
    result.place = place_.data() + group.first;
    result.shade = has_shade_ ? shade_.data() + group.first : nullptr;
    result.unmodulated = has_unmodulated_ ? unmodulated_.data() + group.first : nullptr;
    result.weight = weight_.data() + group.first;
    result.unit = unit_.data() + group.first;
    result.value = value_.data() + group.first;
    return result;
  }

  void update(Products& group, SpotUpdate what, WaveType type) {
    what.count = static_cast<float>(spots());
    what.pixel_share = 1 / static_cast<float>(pixels());
    if (what.level_in == nullptr) what.level_in = sums_.data();
    if (what.sums_out == nullptr) what.sums_out = unused_.data();
    update_spots(panel_, arrays(group), group.count, group.products.data(), what, type, group.waves.data(),
                 has_clusters_, stream());
  }
  void sum_and_update(Products& group, const __half* field, const SpotUpdate& what, WaveType type) {
    group.from_panel->run(field, group.table.data(), group.products.data(), false);
    update(group, what, type);
  }

  void enqueue_look(int levels, const SpotUpdate& what, WaveType type) {
    if (is_single_) {
      const __half* field = field_.data();
      if (levels > 0) {
        field_to_turns(panel_, field, light(), levels, other_turns_.data(), stream());
        turns_to_group(panel_, other_turns_.data(), light(), 0, {}, other_field_.data(), stream());
        field = other_field_.data();
      }
      sum_and_update(groups_.front(), field, what, type);
      return;
    }
    for (auto& group : groups_) {
      turns_to_group(panel_, turns_.data(), light(), levels, group.depth, other_field_.data(), stream());
      sum_and_update(group, other_field_.data(), what, type);
    }
  }

  /// E from V; `keep`: the factor of E as it is, 0 for none.
  void enqueue_build(float keep, WaveType type) {
    bool is_first = true;
    for (auto& group : groups_) {
      if (type == WaveType::fp8) {
        group.to_panel_narrow->run(group.waves.data(), group.narrow.data(), sum_.data(), false);
      } else {
        group.to_panel->run(group.waves.data(), group.transposed.data(), sum_.data(), false);
      }
      if (is_single_) {
        normalise(panel_, sum_.data(), amplitude_.data(), keep, field_.data(), stream());
        return;
      }
      add_group(panel_, sum_.data(), group.depth, is_first, whole_sum_.data(), stream());
      is_first = false;
    }
    normalise_turns(panel_, whole_sum_.data(), light(), keep, turns_.data(), stream());
  }

  [[nodiscard]] float lack_factor(WaveType type) const {
    const double size = lack_scale / std::sqrt(expected_light / spots());
    return static_cast<float>(size) * (type == WaveType::fp8 ? fp8_scale : 1.0F);
  }
  [[nodiscard]] SpotUpdate with_next(SpotUpdate what, const Step& next, WaveType type) const {
    what.next = next.kind == StepKind::kept ? NextWaves::lack : NextWaves::weights;
    what.gain = static_cast<float>(next.gain);
    what.scale = next.kind == StepKind::kept ? lack_factor(type) : 1.0F;
    return what;
  }

  void enqueue_steps(std::span<const Step> steps, bool narrow, bool with_tables) {
    if (with_tables) enqueue_tables(narrow);
    const auto type_of_step = [&](const Step& step) {
      return narrow && step.kind == StepKind::kept ? WaveType::fp8 : WaveType::half;
    };
    cuda::check(cudaMemsetAsync(sums_.data() + 2, 0, 2 * steps.size() * sizeof(float), stream()), "cudaMemsetAsync");
    for (auto& group : groups_) {
      const WaveType type = type_of_step(steps.front());
      update(group, with_next({.taken = Taken::start}, steps.front(), type), type);
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      const WaveType type = type_of_step(step);
      enqueue_build(step.kind == StepKind::kept ? lack_factor(type) : 0.0F, type);
      SpotUpdate what;
      what.taken = step.kind == StepKind::free     ? Taken::free
                   : step.kind == StepKind::locked ? Taken::locked
                                                   : Taken::kept;
      what.level_in = sums_.data() + 2 * i;
      what.sums_out = sums_.data() + 2 * (i + 1);
      WaveType next_type = WaveType::half;
      if (i + 1 < steps.size()) {
        next_type = type_of_step(steps[i + 1]);
        what = with_next(what, steps[i + 1], next_type);
      }
      enqueue_look(step.levels, what, next_type);
    }
  }

  void take_batch(std::span<const Step> steps) {
    const bool has_kept = std::ranges::any_of(steps, [](const Step& step) { return step.kind == StepKind::kept; });
    const bool narrow = has_kept && has_narrow_ && takes_ > 0;
    prepare(narrow);
    ++takes_;
    GraphKey key;
    for (const auto& step : steps) key.first.emplace_back(static_cast<int>(step.kind), step.gain, step.levels);
    key.second = {narrow, are_tables_dirty_};
    auto found = graphs_.find(key);
    if (found == graphs_.end() && takes_ > 1) {
      if (graphs_.size() >= max_graphs) graphs_.clear();
      const bool with_tables = are_tables_dirty_;
      found =
          graphs_.emplace(key, cuda::Graph::record(queue_, [&] { enqueue_steps(steps, narrow, with_tables); })).first;
    }
    if (found != graphs_.end() && !found->second.empty()) {
      found->second.launch(queue_);
    } else {
      enqueue_steps(steps, narrow, are_tables_dirty_);
    }
    are_tables_dirty_ = false;
  }

  /// The last step's level is that before the next.
  void keep_level(std::size_t steps) {
    cuda::check(cudaMemcpyAsync(sums_.data(), sums_.data() + 2 * steps, 2 * sizeof(float), cudaMemcpyDeviceToDevice,
                                stream()),
                "cudaMemcpyAsync");
  }

  using GraphKey = std::pair<std::vector<std::tuple<int, double, int>>, std::pair<bool, bool>>;

  SpotOptions options_;
  DepthWave wave_;
  Queue queue_;
  Panel panel_;
  bool has_clusters_ = false;
  bool has_narrow_ = false;
  bool is_single_ = true;           ///< one group without a factor: E is field_; otherwise turns_
  Array<float2, 1> light_;          ///< {ny, nx}; empty: 1
  Array<__half, 1> amplitude_;      ///< in the layout; empty: 1
  Array<float, 1> turns_;           ///< {ny, nx}
  mutable Array<float, 1> other_turns_;
  Array<__half, 1> field_;          ///< E times the light's amplitude, in the layout
  Array<__half, 1> other_field_;
  Array<__half, 1> sum_;            ///< over spots, in the layout
  Array<float2, 1> whole_sum_;      ///< over groups {ny, nx}
  Array<float, 1> sums_;            ///< {steps + 1, 2}: sum |u|^2 / T^2 and sum |u|^2; first those before
  Array<float, 1> unused_{{2}, queue_};
  Array<std::byte, 1> scratch_;     ///< of cuBLASLt
  std::vector<Products> groups_;
  std::vector<int> counts_;         ///< of the groups
  std::vector<std::uint32_t> slot_;  ///< of a spot in the padded order
  std::size_t padded_count_ = 0;
  double target_square_ = 0;        ///< sum T^2
  bool has_shade_ = false;
  bool has_unmodulated_ = false;
  bool are_tables_dirty_ = true;
  std::int64_t takes_ = 0;  ///< calls of take with these groups
  Array<float4, 1> place_;
  Array<float, 1> shade_;
  Array<float2, 1> unmodulated_;
  Array<float, 1> weight_;
  Array<float2, 1> unit_;
  Array<float2, 1> value_;
  std::map<GraphKey, cuda::Graph> graphs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine_cuda(const SpotOptions& options, const Queue& queue) {
  return std::make_unique<CudaEngine>(options, queue);
}

}  // namespace holotone::spots
