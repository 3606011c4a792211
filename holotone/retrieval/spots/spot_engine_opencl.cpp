// Spots on OpenCL: tables of their waves along the axes and plain sums over them.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/kernel_opencl.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/retrieval/spots/host_steps.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <limits>

namespace holotone::spots {
namespace {

using opencl::over;
using opencl::two_floats;

constexpr auto source = "holotone/retrieval/spots/spots_opencl.cl";
constexpr std::int64_t tile_rows = 4;
/// Spots of one product: their tables take some megabytes.
constexpr std::size_t chunk_spots = 512;
/// Sums of a spot that the host adds in float64.
constexpr std::int64_t shares = 16;
constexpr opencl::Range pixel_group{64, 4, 1};
constexpr opencl::Range line_group{64, 1, 1};

/// Spot, Depth and Sizes of spots_opencl.cl.
struct OpenclSpot {
  cl_float2 fx;
  cl_float2 fy;
  cl_float2 chirp;
};
struct OpenclDepth {
  cl_float2 square;
  cl_float2 turns;
  cl_int exists;
};
struct Sizes {
  cl_int nx;
  cl_int ny;
  cl_int spots;
  cl_int columns;
  cl_int pitch;
};

/// How a device likes its products: WIDTH, PACKED, STRIPES.
struct ProductForm {
  std::int64_t width;
  bool packed;
  std::int64_t stripes;
};

ProductForm form_for(const Queue& queue, std::optional<bool> packed) {
  const cl::Device device = opencl::device_of(queue);
  const bool is_cpu = (opencl::info<CL_DEVICE_TYPE>(device) & CL_DEVICE_TYPE_CPU) != 0;
  if (!packed.value_or(is_cpu)) return {4, false, 1};
  const auto width = opencl::info<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>(device);
  return {width >= 16 ? 16 : width >= 8 ? 8 : 4, true, 8};
}

std::int64_t in_wholes(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

class OpenclEngine final : public HostSteps {
 public:
  OpenclEngine(const SpotOptions& options, const Queue& queue, std::optional<bool> packed)
      : HostSteps(options),
        wave_(options),
        queue_(queue),
        form_(form_for(queue, packed)),
        group_(form_.packed ? opencl::Range{1, 1, 1} : opencl::Range{16, 8, 1}),
        fill_columns_(kernel("fill_columns")),
        fill_rows_(kernel("fill_rows")),
        sum_spots_(kernel("sum_spots")),
        sum_pixels_(kernel("sum_pixels")),
        add_parts_(kernel("add_parts")),
        prepare_(kernel("prepare")),
        set_phase_(kernel("set_phase")),
        read_phase_(kernel("read_phase")),
        field_({options.grid.ny * options.grid.nx}, queue) {}

  void round(int levels) override {
    prepare_(pixels(), pixel_group, field(), light_phase(), no_amplitude, sizes(0, 0), cl_int{levels}, OpenclDepth{},
             field_.data());
  }

  void set_phase(const float* phase_rad) override {
    const auto phase = uploaded(phase_rad, field_.size());
    set_phase_(over(field_.size()), line_group, phase.data(), light_phase(), cl_long{field_.size()}, field_.data());
  }

  void phase(float* phase_rad) const override {
    Array<float, 1> phase({field_.size()}, queue_);
    read_phase_(over(field_.size()), line_group, field(), light_phase(), cl_long{field_.size()}, phase.data());
    copy_bytes(phase_rad, Device{}, phase.data(), queue_.device(), phase.bytes(), queue_);
  }

 private:
  static constexpr const float* no_amplitude = nullptr;
  static constexpr const Complex* no_field = nullptr;

  [[nodiscard]] opencl::Kernel kernel(const char* name) const {
    return {queue_,
            source,
            name,
            {fmt::format("-DWIDTH={}", form_.width), fmt::format("-DPACKED={:d}", form_.packed),
             fmt::format("-DSTRIPES={}", form_.stripes)}};
  }

  template <class T>
  [[nodiscard]] Array<T, 1> uploaded(const T* values, std::int64_t count) const {
    Array<T, 1> target({count}, queue_);
    copy_bytes(target.data(), queue_.device(), values, Device{}, target.bytes(), queue_);
    return target;
  }

  void place_light(const Complex* light) override {
    amplitude_ = {};
    light_phase_ = {};
    if (light != nullptr) {
      const auto split = panel_light({light, static_cast<std::size_t>(field_.size())});
      amplitude_ = uploaded(split.amplitude.data(), field_.size());
      light_phase_ = uploaded(split.phase.data(), field_.size());
    }
    prepare_(pixels(), pixel_group, no_field, light_phase(), no_amplitude, sizes(0, 0), cl_int{0}, OpenclDepth{},
             field_.data());
  }

  void place_spots(std::span<const SpotPlace> spots) override {
    const double x = 0.5 * static_cast<double>(nx() - 1);
    const double y = 0.5 * static_cast<double>(ny() - 1);
    groups_ = group_spots(spots, wave_, x * x + y * y, std::numeric_limits<std::size_t>::max());
    order_.clear();
    for (const auto& group : groups_) order_.insert(order_.end(), group.spots.begin(), group.spots.end());
    std::vector<OpenclSpot> waves;
    waves.reserve(spots.size());
    for (const auto i : order_) {
      const auto& spot = spots[i];
      waves.push_back({two_floats(spot.fx), two_floats(spot.fy), two_floats(wave_.chirp(spot.z_m))});
    }
    waves_ = uploaded(waves.data(), std::ssize(waves));
  }

  void build(std::span<const Wave> coefficients, bool keep) override {
    std::vector<Complex> ordered;
    ordered.reserve(order_.size());
    for (const auto i : order_) ordered.emplace_back(coefficients[i]);
    const auto coefficient = uploaded(ordered.data(), std::ssize(ordered));
    if (order_.size() > chunk_spots || groups_.size() > 1) reserve(sum_, field_.size(), queue_);
    for_each_chunk([&](const SpotGroup& group, std::int64_t first, std::int64_t count) {
      const auto s = sizes(count, nx());
      const bool is_last = first + count == std::ssize(order_);
      fill_tables(s, first, coefficient.data() + first);
      sum_spots_(product_items(s), group_, as_complex(rows_), columns_.data(), s, depth_of(group), cl_int{first == 0},
                 keep ? 1.0F : 0.0F, sum_.data(), is_last ? field_.data() : nullptr);
    });
  }

  void sum_modulated(std::span<Wave> values, int levels) override { look_at(field(), levels, values); }
  void sum_unmodulated(std::span<Wave> values) override { look_at(no_field, 0, values); }

  void look_at(const Complex* field, int levels, std::span<Wave> values) {
    const double share = 1 / static_cast<double>(field_.size());
    const SpotGroup* prepared = nullptr;
    for_each_chunk([&](const SpotGroup& group, std::int64_t first, std::int64_t count) {
      const bool is_plain = field != nullptr && levels == 0 && amplitude_.empty() && !group.has_factor;
      if (!is_plain && prepared != &group) {
        reserve(light_, field_.size(), queue_);
        prepare_(pixels(), pixel_group, field, light_phase(), amplitude_.data(), sizes(0, 0), cl_int{levels},
                 depth_of(group), light_.data());
        prepared = &group;
      }
      const auto s = sizes(count, count);
      fill_tables(s, first, nullptr);
      const std::int64_t parts = in_wholes(ny(), tile_rows * form_.stripes);
      reserve(parts_, parts * 2 * s.pitch, queue_);
      reserve(sums_, shares * s.pitch, queue_);
      sum_pixels_(product_items(s), group_, is_plain ? field : light_.data(), columns_.data(), rows_.data(), s,
                  parts_.data());
      add_parts_(over(s.pitch, shares), line_group, parts_.data(), static_cast<cl_int>(parts), s.pitch,
                 static_cast<cl_int>(shares), sums_.data());
      read_sums(s, first, values, share);
    });
  }

  /// Reads the sums of a chunk.
  void read_sums(const Sizes& s, std::int64_t first, std::span<Wave> values, double factor) {
    std::vector<Complex> sums(static_cast<std::size_t>(shares * s.pitch));
    copy_bytes(sums.data(), Device{}, sums_.data(), queue_.device(), sums.size() * sizeof(Complex), queue_);
    for (std::int64_t k = 0; k < s.spots; ++k) {
      Wave sum;
      for (std::int64_t i = 0; i < shares; ++i) sum += Wave(sums[static_cast<std::size_t>(i * s.pitch + k)]);
      values[order_[static_cast<std::size_t>(first + k)]] = factor * sum;
    }
  }

  /// Calls use(group, first of the order, count).
  template <class Use>
  void for_each_chunk(const Use& use) const {
    std::int64_t begin = 0;
    for (const auto& group : groups_) {
      for (std::size_t first = 0; first < group.spots.size(); first += chunk_spots) {
        const auto count = static_cast<std::int64_t>(std::min(chunk_spots, group.spots.size() - first));
        use(group, begin, count);
        begin += count;
      }
    }
  }

  /// Tables of spots from `first` on; with coefficients for the sum over spots, else for those over pixels.
  void fill_tables(const Sizes& s, std::int64_t first, const Complex* coefficients) {
    const bool of_pixels = coefficients == nullptr;
    const std::int64_t rows = in_wholes(ny(), tile_rows) * tile_rows;
    reserve(columns_, 2 * s.columns * (of_pixels ? nx() : s.spots), queue_);
    reserve(rows_, 2 * s.pitch * rows, queue_);
    fill_columns_(over(std::max<std::int64_t>(nx(), of_pixels ? 0 : s.columns), of_pixels ? s.columns : s.spots),
                  line_group, waves_.data() + first, columns_.data(), s, cl_int{of_pixels});
    fill_rows_(over(s.pitch, rows), line_group, waves_.data() + first, coefficients, rows_.data(), s);
  }

  [[nodiscard]] std::int64_t nx() const { return options().grid.nx; }
  [[nodiscard]] std::int64_t ny() const { return options().grid.ny; }
  [[nodiscard]] opencl::Range pixels() const { return over(nx(), ny()); }
  [[nodiscard]] const Complex* field() const { return field_.data(); }
  [[nodiscard]] const Complex* light_phase() const { return light_phase_.data(); }
  static const Complex* as_complex(const Array<float, 1>& values) {
    return reinterpret_cast<const Complex*>(values.data());
  }

  [[nodiscard]] Sizes sizes(std::int64_t spots, std::int64_t columns) const {
    const auto whole = [&](std::int64_t count) {
      return static_cast<cl_int>(in_wholes(count, form_.width) * form_.width);
    };
    return {static_cast<cl_int>(nx()), static_cast<cl_int>(ny()), static_cast<cl_int>(spots), whole(columns),
            whole(spots)};
  }
  [[nodiscard]] opencl::Range product_items(const Sizes& s) const {
    return over(s.columns / form_.width, in_wholes(ny(), tile_rows * form_.stripes));
  }
  [[nodiscard]] OpenclDepth depth_of(const SpotGroup& group) const {
    return {two_floats(wave_.square), two_floats(wave_.turns_per_m * group.z_m), cl_int{group.has_factor}};
  }

  DepthWave wave_;
  Queue queue_;
  ProductForm form_;
  opencl::Range group_;
  opencl::Kernel fill_columns_;
  opencl::Kernel fill_rows_;
  opencl::Kernel sum_spots_;
  opencl::Kernel sum_pixels_;
  opencl::Kernel add_parts_;
  opencl::Kernel prepare_;
  opencl::Kernel set_phase_;
  mutable opencl::Kernel read_phase_;
  std::vector<SpotGroup> groups_;
  std::vector<std::uint32_t> order_;  ///< numbers of the spots, group after group
  Array<OpenclSpot, 1> waves_;        ///< in that order
  Array<float, 1> amplitude_;         ///< of the light; empty: 1
  Array<Complex, 1> light_phase_;     ///< of modulus 1; empty: 1
  Array<Complex, 1> field_;           ///< E, with the light's phase
  Array<Complex, 1> sum_;
  Array<Complex, 1> light_;
  Array<float, 1> columns_;
  Array<float, 1> rows_;
  Array<float, 1> parts_;
  Array<Complex, 1> sums_;
};

}  // namespace

std::unique_ptr<Engine> make_engine_opencl(const SpotOptions& options, const Queue& queue, std::optional<bool> packed) {
  return std::make_unique<OpenclEngine>(options, queue, packed);
}

}  // namespace holotone::spots
