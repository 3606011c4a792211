// Spots on CUDA: matrix products, their numbers normalised and updated by kernels, all steps of a call as one graph.
#include <algorithm>
#include <cmath>
#include <holotone/core/array.hpp>
#include <holotone/core/matrix_product/matrix_product_cuda.hpp>
#include <holotone/retrieval/spots/spot_memory_cuda.hpp>
#include <holotone/retrieval/spots/spot_products_cuda.hpp>
#include <holotone/retrieval/spots/spot_transform_cuda.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace holotone::spots {
namespace {

using cuda::MatrixProduct;

/// Spots of a group are padded to this number, columns of a table to `column_padding`.
constexpr std::size_t spot_padding = 32;
constexpr int column_padding = 64;
constexpr std::size_t max_graphs = 16;
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
float2 to_float2(Wave value) { return {static_cast<float>(value.real()), static_cast<float>(value.imag())}; }

/// How sums are done, and where E is.
enum class Way {
  products,   ///< one group without a factor: E in field_
  groups,     ///< several, with factors of depth: the panel's phase in turns_
  transform,  ///< many spots in the focal plane: E in transform_
};

class CudaEngine final : public Engine {
 public:
  CudaEngine(const SpotOptions& options, const Queue& queue)
      : options_(options),
        wave_(options),
        user_(queue),
        queue_(queue.native() == nullptr ? Queue::create(queue.device()) : queue),
        side_(Queue::create(queue.device())),
        panel_{static_cast<int>(options.grid.nx), static_cast<int>(options.grid.ny), 0, ProductForm::plane},
        turns_({pixels()}, queue_),
        other_turns_({pixels()}, queue_),
        scratch_({2 * static_cast<std::int64_t>(MatrixProduct::workspace_bytes)}, queue_),
        memory_(queue_) {
    const cuda::DeviceScope scope(queue_.device());
    // Events are of the device that is current.
    begun_ = {};
    filled_ = {};
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, queue_.device().index), "cudaGetDeviceProperties");
    multiprocessors_ = properties.major >= 9 ? properties.multiProcessorCount : 0;
    cache_bytes_ = properties.l2CacheSize;
    has_narrow_ = properties.major > 8 || (properties.major == 8 && properties.minor == 9);
    cuda::check(cudaMemsetAsync(turns_.data(), 0, turns_.bytes(), stream()), "cudaMemsetAsync");
  }

  void set_light(const Complex* light) override {
    const cuda::DeviceScope scope(queue_.device());
    // The brightest pixel is 1, which fp16 holds exactly, as it does an even pupil.
    light_ = {};
    light_share_ = 1;
    if (light != nullptr) {
      std::vector<float2> values(static_cast<std::size_t>(pixels()));
      double square = 0;
      float brightest = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        square += static_cast<double>(std::norm(light[i]));
        brightest = std::max(brightest, std::abs(light[i]));
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = {light[i].real() / brightest, light[i].imag() / brightest};
      }
      light_share_ = static_cast<double>(brightest) / std::sqrt(square / static_cast<double>(values.size()));
      upload(light_, values, queue_);
      queue_.synchronize();
    }
    graphs_.clear();
    cuda::check(cudaMemsetAsync(turns_.data(), 0, turns_.bytes(), stream()), "cudaMemsetAsync");
    if (panel_.width > 0) {
      if (way_ != Way::transform) place_light();
      field_from_turns();
    }
    add_zero_order();
  }

  void set_spots(const SpotScene& scene) override {
    const cuda::DeviceScope scope(queue_.device());
    const double x = 0.5 * static_cast<double>(panel_.nx - 1);
    const double y = 0.5 * static_cast<double>(panel_.ny - 1);
    if (std::ranges::all_of(scene.place, [](const SpotPlace& spot) { return spot.z_m == 0; })) {
      SpotGroup all;
      all.spots.resize(scene.place.size());
      std::iota(all.spots.begin(), all.spots.end(), 0U);
      arrange(scene, {all}, ProductForm::plane);
    } else {
      arrange(scene, group_spots(scene.place, wave_, x * x + y * y, scene.place.size()), ProductForm::space);
    }
    memory_.place(scene, wave_, options_.response.fill_factor != 0);
    memory_.set_shares(scene.share);
    are_tables_dirty_ = are_narrow_dirty_ = true;
    add_zero_order();
  }

  void start(std::span<const double> weight, std::span<const Wave> unit,
             std::span<const std::uint8_t> is_free) override {
    const cuda::DeviceScope scope(queue_.device());
    memory_.start(weight, unit, is_free);
  }
  void start(std::uint64_t seed) override { memory_.start(seed); }

  void read_state(std::span<double> weight, std::span<Wave> unit) const override {
    const cuda::DeviceScope scope(queue_.device());
    memory_.take_over();
    memory_.read_state(weight, unit);
  }

  void take(std::span<const Step> steps) override {
    const cuda::DeviceScope scope(queue_.device());
    while (!steps.empty()) {
      const auto some = steps.first(std::min<std::size_t>(steps.size(), SpotMemory::max_batch));
      take_batch(some);
      steps = steps.subspan(some.size());
    }
    join();
  }

  [[nodiscard]] std::vector<double> light() const override { return memory_.light(last_batch_); }

  [[nodiscard]] int batch() const override { return SpotMemory::max_batch; }

  void look(int levels) override {
    const cuda::DeviceScope scope(queue_.device());
    prepare(WaveType::half);
    fill_dirty_tables();
    enqueue_look(levels, {.taken = Taken::look}, WaveType::half);
  }

  void read(std::span<Wave> value) const override { memory_.read(value); }

  void round(int levels) override {
    const cuda::DeviceScope scope(queue_.device());
    find_turns(levels, turns_.data());
    field_from_turns();
    shown_levels_ = levels;
  }

  void set_phase(const float* phase_rad) override {
    const cuda::DeviceScope scope(queue_.device());
    copy_bytes(other_turns_.data(), queue_.device(), phase_rad, Device{}, other_turns_.bytes(), queue_);
    radians_to_turns(other_turns_.data(), pixels(), turns_.data(), stream());
    field_from_turns();
    shown_levels_ = 0;
    queue_.synchronize();
  }

  void phase(float* phase_rad) const override {
    const cuda::DeviceScope scope(queue_.device());
    find_turns(shown_levels_, other_turns_.data());
    turns_to_radians(other_turns_.data(), pixels(), other_turns_.data(), stream());
    copy_bytes(phase_rad, Device{}, other_turns_.data(), queue_.device(), other_turns_.bytes(), queue_);
    queue_.synchronize();
  }

  void codes(View<std::uint8_t, 2> codes) const override {
    const cuda::DeviceScope scope(queue_.device());
    if (codes.device() == queue_.device()) {
      if (user_.native() != queue_.native()) queue_.wait_for(user_);
      find_codes(codes.data());
      join();
      return;
    }
    Array<std::uint8_t, 1> there({pixels()}, queue_);
    find_codes(there.data());
    copy_bytes(codes.data(), Device{}, there.data(), queue_.device(), there.bytes(), queue_);
    queue_.synchronize();
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  [[nodiscard]] std::int64_t pixels() const { return static_cast<std::int64_t>(panel_.nx) * panel_.ny; }
  [[nodiscard]] double spots() const { return static_cast<double>(memory_.spots()); }

  /// What the user's queue gets from now on waits for the engine's work.
  void join() const {
    if (user_.native() != queue_.native()) user_.wait_for(queue_);
  }

  /// The panel's phase, rounded to levels unless 0.
  void find_turns(int levels, float* turns) const {
    switch (way_) {
      case Way::transform: transform_->to_turns(light_.data(), levels, turns); break;
      case Way::products: field_to_turns(panel_, field_.data(), light_.data(), levels, turns, stream()); break;
      case Way::groups:
        if (turns != turns_.data()) {
          copy_bytes(turns, queue_.device(), turns_.data(), queue_.device(), turns_.bytes(), queue_);
        }
        round_turns(turns, pixels(), levels, stream());
        break;
    }
  }

  void find_codes(std::uint8_t* codes) const {
    if (way_ == Way::products) {
      field_to_codes(panel_, field_.data(), light_.data(), shown_levels_, codes, stream());
    } else {
      find_turns(shown_levels_, other_turns_.data());
      turns_to_codes(other_turns_.data(), pixels(), codes, stream());
    }
  }

  /// Chooses the form, and memory for the groups unless it is there.
  void arrange(const SpotScene& scene, const std::vector<SpotGroup>& groups, ProductForm form) {
    const bool is_plane = form == ProductForm::plane;
    std::vector<std::uint32_t> slot(scene.place.size());
    std::vector<int> counts;
    std::size_t next = 0;
    for (const auto& group : groups) {
      for (std::size_t k = 0; k < group.spots.size(); ++k) slot[group.spots[k]] = static_cast<std::uint32_t>(next + k);
      counts.push_back(static_cast<int>(padded(group.spots.size(), spot_padding)));
      next += static_cast<std::size_t>(counts.back());
    }
    const auto spots = static_cast<double>(scene.place.size());
    const bool by_transform = is_plane && is_transform_faster(panel_.nx, panel_.ny, spots, cache_bytes_);
    const Way way = by_transform                                       ? Way::transform
                    : groups.size() == 1 && !groups.front().has_factor ? Way::products
                                                                       : Way::groups;
    const bool is_same = form == panel_.form && counts == counts_ && way == way_ && panel_.width > 0;
    if (!is_same || slot != memory_.slots()) {
      graphs_.clear();
      memory_.move(slot, next);
    }
    set_way(way, form);
    if (!is_same) allocate(counts);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const bool has_factor = groups[g].has_factor;
      groups_[g].depth = {wave_.square, has_factor ? wave_.turns_per_m * groups[g].z_m : 0.0};
    }
    // Depths are numbers in the recorded kernels.
    if (way == Way::groups) graphs_.clear();
  }

  void set_way(Way way, ProductForm form) {
    const int needed = form == ProductForm::plane ? 2 * ((panel_.nx + 1) / 2) : panel_.nx;
    const int width = (needed + column_padding - 1) / column_padding * column_padding;
    if (form == panel_.form && width == panel_.width && way == way_) return;
    if (panel_.width > 0 && way_ != Way::groups) find_turns(0, turns_.data());
    panel_.form = form;
    panel_.width = width;
    way_ = way;
    graphs_.clear();
    counts_.clear();
    groups_.clear();
    transform_.reset();
    whole_sum_ = {};
    if (way == Way::transform) {
      for (auto* const unused : {&field_, &other_field_, &sum_, &amplitude_}) *unused = {};
      transform_.emplace(panel_.nx, panel_.ny, queue_);
    } else {
      field_ = Array<__half, 1>({panel_.numbers()}, queue_);
      other_field_ = Array<__half, 1>({panel_.numbers()}, queue_);
      sum_ = Array<__half, 1>({panel_.numbers()}, queue_);
      if (way == Way::groups) whole_sum_ = Array<float2, 1>({pixels()}, queue_);
      place_light();
    }
    field_from_turns();
  }

  void allocate(const std::vector<int>& counts) {
    graphs_.clear();
    groups_.clear();
    counts_ = counts;
    takes_ = 0;
    int first = 0;
    if (transform_) return transform_->reserve(counts.front());
    for (const int count : counts) {
      groups_.emplace_back(panel_, first, count, queue_, scratch_.data());
      first += count;
    }
  }

  /// The light's amplitude in the layout, where it is not 1 everywhere.
  void place_light() {
    const bool is_filled =
        panel_.form == ProductForm::plane ? 2 * panel_.half() == panel_.nx : panel_.width == panel_.nx;
    amplitude_ = {};
    if (light_.data() == nullptr && is_filled) return;
    amplitude_ = Array<__half, 1>({static_cast<std::int64_t>(panel_.ny) * panel_.width}, queue_);
    place_amplitude(panel_, light_.data(), amplitude_.data(), stream());
  }

  void field_from_turns() {
    if (way_ == Way::transform) transform_->set_turns(turns_.data(), light_.data());
    if (way_ == Way::products) turns_to_group(panel_, turns_.data(), light_.data(), 0, {}, field_.data(), stream());
  }

  /// The zero order's field in the spots: sums of the light itself.
  void add_zero_order() {
    memory_.forget_unmodulated();
    if (options_.response.zero_order == 0 || memory_.spots() == 0 || panel_.width == 0) return;
    prepare(WaveType::half);
    fill_dirty_tables();
    if (transform_) {
      transform_->set_other(nullptr, light_.data());
      transform_->update(memory_.arrays(0), completed({.taken = Taken::look}), true);
    }
    for (auto& group : groups_) {
      turns_to_group(panel_, nullptr, light_.data(), 0, group.depth, other_field_.data(), stream());
      sum_and_update(group, other_field_.data(), {.taken = Taken::look}, WaveType::half);
    }
    auto values = memory_.values();
    const Wave factor = std::polar(options_.response.zero_order, options_.zero_order_phase_rad);
    for (auto& value : values) {
      value = to_float2(factor * Wave(static_cast<double>(value.x), static_cast<double>(value.y)));
    }
    memory_.set_unmodulated(values);
    graphs_.clear();
  }

  /// Chooses the algorithms of products before they are recorded. The first steps of a shape run at once, later ones by
  /// the fastest algorithm; those of fp8 only then.
  void prepare(WaveType type) {
    const auto how = MatrixProduct::choice_after(takes_, false);
    for (auto& group : groups_) {
      group.choose(how, other_field_.data(), sum_.data());
      if (type == WaveType::half || !has_narrow_ || group.has_narrow()) continue;
      has_narrow_ = group.make_narrow(sum_.data());
      are_narrow_dirty_ = true;
    }
  }

  /// True if tables that steps need are those of other places; those in fp8 wait until a step needs them.
  [[nodiscard]] bool is_dirty(WaveType type) const {
    return are_tables_dirty_ || (type == WaveType::fp8 && are_narrow_dirty_);
  }
  void note_filled(WaveType type) {
    are_tables_dirty_ = false;
    if (type == WaveType::fp8) are_narrow_dirty_ = false;
  }
  void fill_dirty_tables() {
    memory_.take_over();
    if (!is_dirty(WaveType::half)) return;
    enqueue_tables(WaveType::half, queue_);
    note_filled(WaveType::half);
  }
  void enqueue_tables(WaveType type, const Queue& queue) {
    if (transform_) transform_->place(memory_.places());
    for (auto& group : groups_) group.place(memory_.places(), type, queue);
  }

  [[nodiscard]] SpotUpdate completed(SpotUpdate what) {
    what.count = static_cast<float>(spots());
    what.pixel_share = static_cast<float>(light_share_ / static_cast<double>(pixels()));
    if (what.level_in == nullptr) what.level_in = memory_.sums_before(0);
    if (what.sums_out == nullptr) what.sums_out = memory_.unused_sums();
    return what;
  }
  void update(SpotProducts& group, const SpotUpdate& what, WaveType type) {
    group.update(memory_.arrays(group.first()), completed(what), type, multiprocessors_);
  }
  void sum_and_update(SpotProducts& group, const __half* field, const SpotUpdate& what, WaveType type) {
    group.sum_over_columns(field);
    update(group, what, type);
  }

  void enqueue_look(int levels, const SpotUpdate& what, WaveType type) {
    if (transform_) {
      if (levels > 0) {
        find_turns(levels, other_turns_.data());
        transform_->set_other(other_turns_.data(), light_.data());
      }
      transform_->update(memory_.arrays(0), completed(what), levels > 0);
      return;
    }
    if (way_ == Way::products) {
      const __half* field = field_.data();
      if (levels > 0) {
        find_turns(levels, other_turns_.data());
        turns_to_group(panel_, other_turns_.data(), light_.data(), 0, {}, other_field_.data(), stream());
        field = other_field_.data();
      }
      sum_and_update(groups_.front(), field, what, type);
      return;
    }
    for (auto& group : groups_) {
      turns_to_group(panel_, turns_.data(), light_.data(), levels, group.depth, other_field_.data(), stream());
      sum_and_update(group, other_field_.data(), what, type);
    }
  }

  /// E from V; `keep`: the factor of E as it is, 0 for none.
  void enqueue_build(float keep, WaveType type) {
    if (transform_) {
      transform_->build(light_.data(), keep);
      return;
    }
    bool is_first = true;
    for (auto& group : groups_) {
      group.sum_over_spots(type, sum_.data());
      if (way_ == Way::products) {
        normalise(panel_, sum_.data(), amplitude_.data(), keep, field_.data(), stream());
        return;
      }
      add_group(panel_, sum_.data(), group.depth, is_first, whole_sum_.data(), stream());
      is_first = false;
    }
    normalise_turns(panel_, whole_sum_.data(), light_.data(), keep, turns_.data(), stream());
  }

  [[nodiscard]] float lack_factor(WaveType type) const {
    const double size = lack_scale / std::sqrt(expected_light / spots());
    return static_cast<float>(size) * (type == WaveType::fp8 ? fp8_scale : 1.0F);
  }
  [[nodiscard]] SpotUpdate with_next(SpotUpdate what, const Step& next, WaveType type) const {
    what.next = next.kind == StepKind::kept   ? NextWaves::lack
                : next.kind == StepKind::held ? NextWaves::held_lack
                                              : NextWaves::weights;
    what.gain = static_cast<float>(next.gain);
    what.scale = keeps_field(next.kind) ? lack_factor(type) : 1.0F;
    return what;
  }

  [[nodiscard]] static Taken taken_by(StepKind kind) {
    switch (kind) {
      case StepKind::free: return Taken::free;
      case StepKind::locked: return Taken::locked;
      case StepKind::kept: return Taken::kept;
      case StepKind::held: break;
    }
    return Taken::held;
  }

  void enqueue_steps(std::span<const Step> steps, WaveType type, bool with_tables) {
    memory_.begin(steps.size());
    begun_.record(queue_);
    begun_.hold(side_);
    if (with_tables) enqueue_tables(type, side_);
    const SpotUpdate first = with_next({.taken = Taken::start}, steps.front(), type);
    if (transform_) transform_->spread(memory_.arrays(0), completed(first));
    for (auto& group : groups_) update(group, first, type);
    filled_.record(side_);
    filled_.hold(queue_);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      enqueue_build(keeps_field(step.kind) ? lack_factor(type) : 0.0F, type);
      SpotUpdate what;
      what.taken = taken_by(step.kind);
      what.level_in = memory_.sums_before(i);
      what.sums_out = memory_.sums_after(i, steps.size());
      if (i + 1 < steps.size()) what = with_next(what, steps[i + 1], type);
      enqueue_look(step.levels, what, type);
    }
  }

  /// Sums over spots may be in fp8 where kept steps follow, which add what the spots lack.
  [[nodiscard]] WaveType find_type(std::span<const Step> steps) const {
    const bool is_mended = keeps_field(steps.back().kind);
    return is_mended && takes_ > 0 && has_narrow_ && !transform_ ? WaveType::fp8 : WaveType::half;
  }

  void take_batch(std::span<const Step> steps) {
    prepare(find_type(steps));
    const WaveType type = find_type(steps);  // half where the device has no product in fp8
    ++takes_;
    shown_levels_ = 0;
    GraphKey key;
    for (const auto& step : steps) key.first.emplace_back(static_cast<int>(step.kind), step.gain, step.levels);
    const bool with_tables = is_dirty(type);
    key.second = {type, with_tables, memory_.beginning()};
    memory_.before_begin();
    auto found = graphs_.find(key);
    if (found == graphs_.end() && takes_ > 1) {
      if (graphs_.size() >= max_graphs) graphs_.clear();
      found = graphs_.emplace(key, record_steps(steps, type, with_tables)).first;
    }
    if (found != graphs_.end() && !found->second.empty()) {
      found->second.launch(queue_);
    } else {
      enqueue_steps(steps, type, with_tables);
    }
    memory_.after_begin();
    note_filled(type);
    last_batch_ = steps.size();
  }

  cuda::Graph record_steps(std::span<const Step> steps, WaveType type, bool with_tables) {
    constexpr auto bytes = MatrixProduct::workspace_bytes;
    return cuda::Graph::record(queue_, [&] { enqueue_steps(steps, type, with_tables); },
                               {scratch_.data() + bytes, bytes});
  }

  using GraphKey =
      std::pair<std::vector<std::tuple<int, double, int>>, std::tuple<WaveType, bool, SpotMemory::Beginning>>;

  SpotOptions options_;
  DepthWave wave_;
  Queue user_;
  Queue queue_;  ///< the user's, but for the legacy default stream, which cannot be recorded
  Queue side_;   ///< of tables, which are filled while waves are
  cuda::Mark begun_;
  cuda::Mark filled_;
  Panel panel_;
  int multiprocessors_ = 0;  ///< of a device with clusters of blocks
  double cache_bytes_ = 0;   ///< second level
  bool has_narrow_ = false;
  Way way_ = Way::groups;
  Array<float2, 1> light_;  ///< {ny, nx}, at most 1; empty: 1
  double light_share_ = 1;  ///< one over its root mean square
  std::optional<SpotTransform> transform_;
  Array<__half, 1> amplitude_;  ///< in the layout; empty: 1
  Array<float, 1> turns_;       ///< {ny, nx}
  mutable Array<float, 1> other_turns_;
  Array<__half, 1> field_;  ///< E times the light's amplitude, in the layout
  Array<__half, 1> other_field_;
  Array<__half, 1> sum_;         ///< over spots, in the layout
  Array<float2, 1> whole_sum_;   ///< over groups {ny, nx}
  Array<std::byte, 1> scratch_;  ///< of cuBLASLt: for sums over spots, and over columns
  mutable SpotMemory memory_;    ///< what came last is taken over before it is read
  std::vector<SpotProducts> groups_;
  std::vector<int> counts_;  ///< of the groups
  bool are_tables_dirty_ = true;
  bool are_narrow_dirty_ = true;  ///< those in fp8
  int shown_levels_ = 0;          ///< that E was rounded to, which fp16 moves a little; 0: none
  std::int64_t takes_ = 0;        ///< calls of take with these groups
  std::size_t last_batch_ = 0;    ///< steps of the last call
  std::map<GraphKey, cuda::Graph> graphs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine_cuda(const SpotOptions& options, const Queue& queue) {
  return std::make_unique<CudaEngine>(options, queue);
}

}  // namespace holotone::spots
