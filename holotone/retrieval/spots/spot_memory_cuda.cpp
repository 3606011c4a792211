#include <algorithm>
#include <holotone/core/cuda_check.hpp>
#include <holotone/retrieval/spots/spot_memory_cuda.hpp>

namespace holotone::spots {
namespace {

using cuda::stream_of;

template <class T>
void upload(Array<T, 1>& target, const std::vector<T>& source, const Queue& queue) {
  const auto count = static_cast<std::int64_t>(source.size());
  if (target.shape()[0] != count || target.data() == nullptr) target = Array<T, 1>({count}, queue);
  copy_bytes(target.data(), queue.device(), source.data(), Device{}, source.size() * sizeof(T), queue);
  queue.synchronize();
}
template <class T>
std::vector<T> download(const Array<T, 1>& source, const Queue& queue) {
  std::vector<T> result(static_cast<std::size_t>(source.size()));
  copy_bytes(result.data(), Device{}, source.data(), queue.device(), result.size() * sizeof(T), queue);
  queue.synchronize();
  return result;
}

Wave to_wave(float2 value) { return {static_cast<double>(value.x), static_cast<double>(value.y)}; }

}  // namespace

SpotMemory::SpotMemory(const Queue& queue)
    : queue_(queue), transfer_(Queue::create(queue.device())), sums_({max_batch + 1}, queue), unused_({1}, queue) {
  // Events are of the device that is current.
  const cuda::DeviceScope scope(queue.device());
  for (auto& next : incoming_) next = Incoming();
}

float SpotMemory::expected_level() const {
  return static_cast<float>(static_cast<double>(spots()) * expected_light / target_square_);
}

void SpotMemory::move(const std::vector<std::uint32_t>& slot, std::size_t padded_count) {
  std::vector<float> weight(padded_count, 0.0F);
  std::vector<float2> unit(padded_count, float2{1, 0});
  std::vector<float2> value(padded_count, float2{0, 0});
  if (slot.size() == slot_.size()) {
    take_over();
    const auto w = download(weight_, queue_);
    const auto t = download(unit_, queue_);
    const auto u = download(value_, queue_);
    for (std::size_t m = 0; m < slot.size(); ++m) {
      weight[slot[m]] = w[slot_[m]];
      unit[slot[m]] = t[slot_[m]];
      value[slot[m]] = u[slot_[m]];
    }
  }
  has_incoming_ = false;
  seed_.reset();
  upload(weight_, weight, queue_);
  upload(unit_, unit, queue_);
  upload(value_, value, queue_);
  upload(pace_, std::vector<SpotPace>(padded_count), queue_);
  std::vector<int> number(padded_count, 0);
  for (std::size_t m = 0; m < slot.size(); ++m) number[slot[m]] = static_cast<int>(m);
  upload(number_, number, queue_);
  const Shape<1> shape{static_cast<std::int64_t>(padded_count)};
  place_ = Array<float4, 1>(shape, queue_);
  shade_ = Array<float, 1>(shape, queue_);
  transfer_.synchronize();
  for (auto& next : incoming_) {
    next.place = Array<float4, 1>(shape, queue_);
    next.shade = Array<float, 1>(shape, queue_);
  }
  // What the other queue writes to is there, and read by nothing.
  queue_.synchronize();
  slot_ = slot;
  padded_count_ = padded_count;
}

void SpotMemory::place(const SpotScene& scene, const DepthWave& wave, bool has_shade) {
  const std::size_t bytes = padded_count_ * (sizeof(float4) + sizeof(float));
  incoming_[static_cast<std::size_t>(turn_)].has_come.synchronize();
  if (staging_.bytes() < bytes) staging_ = Buffer::on_host_for(queue_.device(), bytes);
  auto* const places = static_cast<float4*>(staging_.data());
  auto* const shade = reinterpret_cast<float*>(places + padded_count_);
  std::fill_n(places, padded_count_, float4{0, 0, 0, 0});
  std::fill_n(shade, padded_count_, 1.0F);
  target_square_ = 0;
  for (std::size_t m = 0; m < scene.place.size(); ++m) {
    const auto& spot = scene.place[m];
    places[slot_[m]] = {static_cast<float>(spot.fx), static_cast<float>(spot.fy),
                        static_cast<float>(wave.chirp(spot.z_m)), static_cast<float>(scene.target[m])};
    shade[slot_[m]] = static_cast<float>(scene.shade[m]);
    target_square_ += scene.target[m] * scene.target[m];
  }
  has_shade_ = has_shade;
  turn_ = 1 - turn_;
  auto& next = incoming_[static_cast<std::size_t>(turn_)];
  next.is_free.hold(transfer_);
  load_places(places, shade, static_cast<int>(padded_count_), next.place.data(),
              has_shade_ ? next.shade.data() : nullptr, stream_of(transfer_));
  next.has_come.record(transfer_);
  has_incoming_ = true;
}

void SpotMemory::start(std::uint64_t seed) { seed_ = seed; }

void SpotMemory::start(std::span<const double> weight, std::span<const Wave> unit,
                       std::span<const std::uint8_t> is_free) {
  seed_.reset();
  std::vector<float> w(padded_count_, 0.0F);
  std::vector<float2> t(padded_count_, float2{1, 0});
  for (std::size_t m = 0; m < slot_.size(); ++m) {
    w[slot_[m]] = static_cast<float>(weight[m]);
    t[slot_[m]] = {static_cast<float>(unit[m].real()), static_cast<float>(unit[m].imag())};
  }
  upload(weight_, w, queue_);
  upload(unit_, t, queue_);
  if (!is_free.empty()) {
    auto pace = download(pace_, queue_);
    for (std::size_t m = 0; m < is_free.size(); ++m) {
      if (is_free[m] != 0) pace[slot_[m]] = {};
    }
    upload(pace_, pace, queue_);
  }
  const float2 sums{expected_level(), 0};
  copy_bytes(sums_.data() + max_batch, queue_.device(), &sums, Device{}, sizeof sums, queue_);
  queue_.synchronize();
}

void SpotMemory::set_shares(const std::vector<double>& share) {
  has_shares_ = !share.empty();
  if (!has_shares_) return;
  std::vector<float> padded(padded_count_, 1.0F);
  for (std::size_t m = 0; m < share.size(); ++m) padded[slot_[m]] = static_cast<float>(share[m]);
  upload(share_, padded, queue_);
}

void SpotMemory::set_unmodulated(const std::vector<float2>& value) {
  upload(unmodulated_, value, queue_);
  has_unmodulated_ = true;
}

SpotMemory::Beginning SpotMemory::beginning() const {
  return {has_incoming_ ? turn_ : -1, has_shares_, seed_.has_value(), seed_.value_or(0),
          seed_ ? expected_level() : 0.0F};
}

void SpotMemory::before_begin() {
  if (has_incoming_) incoming_[static_cast<std::size_t>(turn_)].has_come.hold(queue_);
}
void SpotMemory::after_begin() {
  if (has_incoming_) incoming_[static_cast<std::size_t>(turn_)].is_free.record(queue_);
  has_incoming_ = false;
  seed_.reset();
}

void SpotMemory::begin(std::size_t steps) {
  const auto& next = incoming_[static_cast<std::size_t>(turn_)];
  SpotBeginning what;
  what.count = static_cast<int>(padded_count_);
  what.number = number_.data();
  if (has_incoming_) {
    what.place_in = next.place.data();
    what.shade_in = has_shade_ ? next.shade.data() : nullptr;
  }
  what.place = place_.data();
  what.shade = shade_.data();
  what.is_start = seed_.has_value();
  what.seed = seed_.value_or(0);
  what.level = seed_ ? expected_level() : 0.0F;
  what.weight = weight_.data();
  what.unit = unit_.data();
  what.pace = pace_.data();
  what.sums = sums_.data();
  what.steps = static_cast<int>(steps);
  what.last = max_batch;
  begin_steps(what, stream_of(queue_));
}

void SpotMemory::take_over() {
  if (!has_incoming_ && !seed_) return;
  before_begin();
  begin(0);
  after_begin();
}

SpotArrays SpotMemory::arrays(int first) {
  SpotArrays result;
  result.place = place_.data() + first;
  result.shade = has_shade_ ? shade_.data() + first : nullptr;
  result.share = has_shares_ ? share_.data() + first : nullptr;
  result.unmodulated = has_unmodulated_ ? unmodulated_.data() + first : nullptr;
  result.weight = weight_.data() + first;
  result.unit = unit_.data() + first;
  result.value = value_.data() + first;
  result.pace = pace_.data() + first;
  return result;
}

std::vector<double> SpotMemory::light(std::size_t batch) const {
  const auto sums = download(sums_, queue_);
  std::vector<double> result;
  for (std::size_t i = 0; i < batch; ++i) result.push_back(static_cast<double>(sums[find_sums(i, batch)].y));
  return result;
}

void SpotMemory::read_state(std::span<double> weight, std::span<Wave> unit) const {
  const auto w = download(weight_, queue_);
  const auto t = download(unit_, queue_);
  for (std::size_t m = 0; m < slot_.size(); ++m) {
    weight[m] = static_cast<double>(w[slot_[m]]);
    unit[m] = to_wave(t[slot_[m]]);
  }
}

std::vector<float2> SpotMemory::values() const { return download(value_, queue_); }

void SpotMemory::read(std::span<Wave> value) const {
  const auto values = download(value_, queue_);
  for (std::size_t m = 0; m < slot_.size(); ++m) value[m] = to_wave(values[slot_[m]]);
}

}  // namespace holotone::spots
