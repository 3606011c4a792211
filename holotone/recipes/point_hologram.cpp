#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/point_hologram.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holotone {
namespace {

constexpr const char* where = "PointHologramPlan";

FieldGrid make_grid(const PointCloudOptions& sum) {
  return {sum.shape[1], sum.shape[0], sum.pitch_m, sum.wavelength_m};
}

View<const float, 1> values_of(const std::vector<float>& values) {
  return values.empty() ? View<const float, 1>{} : view_of(std::span<const float>(values));
}

}  // namespace

CloudSources::CloudSources(const PointCloud& cloud, int colour) : cloud_(cloud), colour_(colour) {
  require_range("CloudSources", "colour", colour, -1, 2);
  if (colour >= 0) amplitude_ = channel_amplitude(cloud, colour);
}

PointSources CloudSources::sources() const {
  const float* const position = cloud_.position.empty() ? nullptr : cloud_.position.front().data();
  return {View<const float, 2>(position, {static_cast<std::int64_t>(cloud_.size()), 3}),
          values_of(colour_ < 0 ? cloud_.amplitude : amplitude_), values_of(cloud_.phase_rad)};
}

bool is_sum_phase(const EncodeOptions& encoding) {
  return encoding.encoding == Encoding::phase && encoding.bits == 8 && encoding.level_phase_rad.empty() &&
         encoding.correction_rad.empty() && encoding.carrier_x_rad == 0 && encoding.carrier_y_rad == 0 &&
         encoding.phase_range_rad == EncodeOptions{}.phase_range_rad;
}

struct PointHologramPlan::State {
  State(PointHologramOptions given, Queue to)
      : options(std::move(given)), queue(std::move(to)), sum(options.sum, queue, options.rows_at_once) {
    if (!options.encoding || is_sum_phase(*options.encoding)) return;
    encoder.emplace(*options.encoding, make_grid(options.sum), queue);
    const auto [ny, nx] = options.sum.shape;
    field = Array<Complex, 2>({options.rows_at_once > 0 ? options.rows_at_once : ny, nx}, queue);
  }

  View<const Complex, 2> summed(const RowRange& part, Progress& progress) {
    if (field.empty()) field = Array<Complex, 2>({part.rows, options.sum.shape[1]}, queue);
    if (part.rows > field.shape()[0]) {
      throw_argument(where, "part", fmt::format("at most {} rows", field.shape()[0]), fmt::format("{}", part.rows));
    }
    const View<Complex, 2> rows(field.data(), {part.rows, field.shape()[1]}, queue.device());
    sum.execute(part, {rows, {}, {}}, progress);
    return rows;
  }

  void require_codes() const {
    if (!options.encoding) throw_argument(where, "codes", "options with an encoding", "none");
  }

  EncodePlan& codes() {
    require_codes();
    if (!encoder) encoder.emplace(*options.encoding, make_grid(options.sum), queue);
    return *encoder;
  }

  PointHologramOptions options;
  Queue queue;
  PointCloudPlan sum;
  std::optional<EncodePlan> encoder;
  Array<Complex, 2> field;  ///< of the codes; empty: the sum writes them
};

PointHologramPlan::PointHologramPlan(const PointHologramOptions& options, Queue queue)
    : state_(std::make_unique<State>(options, std::move(queue))) {}
PointHologramPlan::~PointHologramPlan() = default;
PointHologramPlan::PointHologramPlan(PointHologramPlan&&) noexcept = default;
PointHologramPlan& PointHologramPlan::operator=(PointHologramPlan&&) noexcept = default;

void PointHologramPlan::set_points(const PointSources& points) { state_->sum.set_points(points); }

EncodeReport PointHologramPlan::measure(const RowRange& part, Progress& progress) {
  auto& encoder = state_->codes();
  return encoder.measure(part, state_->summed(part, progress));
}

void PointHologramPlan::set_range(const EncodeReport& range) {
  state_->require_codes();
  auto& encoding = *state_->options.encoding;
  encoding.amplitude_min = range.amplitude_min;
  encoding.amplitude_max = range.amplitude_max;
  state_->encoder.emplace(encoding, make_grid(state_->options.sum), state_->queue);
}

void PointHologramPlan::execute(const RowRange& part, View<Complex, 2> field, Progress& progress) {
  if (state_->options.encoding) throw_argument(where, "field", "options without an encoding", "one");
  state_->sum.execute(part, {field, {}, {}}, progress);
}

void PointHologramPlan::execute(const RowRange& part, View<std::uint8_t, 2> codes, Progress& progress) {
  state_->require_codes();
  if (is_sum_phase(*state_->options.encoding)) return state_->sum.execute(part, {{}, {}, codes}, progress);
  state_->encoder->execute(part, state_->summed(part, progress), codes);
}

void PointHologramPlan::execute(const RowRange& part, View<std::uint16_t, 2> codes, Progress& progress) {
  auto& encoder = state_->codes();
  encoder.execute(part, state_->summed(part, progress), codes);
}

EncodeReport PointHologramPlan::report() const {
  state_->require_codes();
  return state_->encoder ? state_->encoder->report() : EncodeReport{};
}

PointCloudInfo PointHologramPlan::info() const { return state_->sum.info(); }
const Queue& PointHologramPlan::queue() const { return state_->queue; }

void describe_points(Metadata& metadata, const PointSources& points, const PointCloudOptions& sum,
                     const PointCloudInfo& info, bool of_colours) {
  const auto add = [&](std::string_view key, const auto& value) {
    if (!metadata.contains(std::string(key))) set_metadata(metadata, key, value());
  };
  const auto* const position = points.position_m.data();
  double nearest_m = 0;
  double farthest_m = 0;
  const auto count = points.position_m.shape()[0];
  if (count > 0 && !(metadata.contains("distance_min_m") && metadata.contains("distance_max_m"))) {
    nearest_m = farthest_m = -static_cast<double>(position[2]);
    for (std::int64_t i = 1; i < count; ++i) {
      nearest_m = std::min(nearest_m, -static_cast<double>(position[3 * i + 2]));
      farthest_m = std::max(farthest_m, -static_cast<double>(position[3 * i + 2]));
    }
  }
  add("pitch_m", [&] { return sum.pitch_m; });
  add("wavelength_m", [&] { return sum.wavelength_m; });
  add("points", [&] { return std::to_string(count); });
  add("distance_min_m", [&] { return nearest_m; });
  add("distance_max_m", [&] { return farthest_m; });
  add("distance_m", [&] { return (nearest_m + farthest_m) / 2; });
  add("object_energy", [&] {
    PointCloudOptions used = sum;
    used.wave = info.wave;
    double energy = of_colours ? lit_energy(points, used) : 0;
    if (!of_colours) {
      for (std::int64_t i = 0; i < count; ++i) {
        const double a = points.amplitude.data()[i] / (sum.falloff ? static_cast<double>(position[3 * i + 2]) : 1.0);
        energy += a * a;
      }
    }
    return fmt::format("{:.9g}", energy);
  });
  add("method", [&] { return to_string(info.method); });
  add("arithmetic", [&] { return info.arithmetic; });
  add("tolerance", [&] { return sum.tolerance; });
  add("wave", [&] { return to_string(info.wave); });
  add("band_limit", [&] { return sum.band_limit ? "1" : "0"; });
  if (sum.falloff) add("falloff", [] { return "1"; });
  if (sum.deterministic) add("deterministic", [] { return "1"; });
  if (of_colours && sum.band_limit)
    add("cone_wavelength_m", [&] { return sum.cone_wavelength_m > 0 ? sum.cone_wavelength_m : sum.wavelength_m; });
  add("fresnel_deviation_rad", [&] { return fresnel_deviation_rad(points, sum); });
}

}  // namespace holotone
