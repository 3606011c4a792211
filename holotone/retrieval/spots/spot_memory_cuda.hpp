#pragma once
// Spots on the device: places, weights, phases and fields of CUDA's engine. Not for users.
#include <array>
#include <holotone/core/array.hpp>
#include <holotone/core/graph_cuda.hpp>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace holotone::spots {

/// Light that spots may be expected to have: the scale of weights at the first step.
inline constexpr double expected_light = 0.8;

/// Spots in an order that is padded, and the sums of a batch of steps. Places come by a queue of their own while the
/// device works on the steps before; they and a start from random phases count from the next batch on.
class SpotMemory {
 public:
  static constexpr int max_batch = 64;

  explicit SpotMemory(const Queue& queue);

  [[nodiscard]] std::size_t spots() const { return slot_.size(); }
  /// Places of the spots in the padded order.
  [[nodiscard]] const std::vector<std::uint32_t>& slots() const { return slot_; }
  /// Brings weights, phases and fields to new places of the order, if the number of spots is the same.
  void move(const std::vector<std::uint32_t>& slot, std::size_t padded_count);

  void place(const SpotScene& scene, const DepthWave& wave, bool has_shade);
  void start(std::uint64_t seed);
  void start(std::span<const double> weight, std::span<const Wave> unit, std::span<const std::uint8_t> is_free);
  /// Shares of the gain; empty: 1.
  void set_shares(const std::vector<double>& share);
  void set_unmodulated(const std::vector<float2>& value);
  void forget_unmodulated() { has_unmodulated_ = false; }

  /// What the next batch begins with: a graph of it serves another one with the same.
  using Beginning = std::tuple<int, bool, bool, std::uint64_t, float>;
  [[nodiscard]] Beginning beginning() const;
  /// To be called before the work of begin is launched, and after.
  void before_begin();
  void after_begin();
  /// Enqueues what the next batch begins with.
  void begin(std::size_t steps);
  /// The same without a batch.
  void take_over();

  [[nodiscard]] SpotArrays arrays(int first);
  /// Sums before a batch, and those after a step, which are those of the last at one place for all batches.
  [[nodiscard]] const float2* sums_before(std::size_t step) const { return sums_.data() + step; }
  [[nodiscard]] float2* sums_after(std::size_t step, std::size_t batch) {
    return sums_.data() + find_sums(step, batch);
  }
  [[nodiscard]] float2* unused_sums() { return unused_.data(); }
  /// sum |u|^2 after each step of the last batch.
  [[nodiscard]] std::vector<double> light(std::size_t batch) const;

  void read_state(std::span<double> weight, std::span<Wave> unit) const;
  [[nodiscard]] std::vector<float2> values() const;
  void read(std::span<Wave> value) const;
  [[nodiscard]] const float4* places() const { return place_.data(); }

 private:
  [[nodiscard]] static std::size_t find_sums(std::size_t step, std::size_t batch) {
    return step + 1 < batch ? step + 1 : max_batch;
  }
  /// The level only scales weights, until the first step has shown it.
  [[nodiscard]] float expected_level() const;

  Queue queue_;
  Queue transfer_;
  std::vector<std::uint32_t> slot_;
  std::size_t padded_count_ = 0;
  double target_square_ = 0;  ///< sum T^2
  Buffer staging_;            ///< page-locked: the host waits for a transfer only before the next
  struct Incoming {
    Array<float4, 1> place;
    Array<float, 1> shade;
    cuda::Mark has_come;
    cuda::Mark is_free;
  };
  std::array<Incoming, 2> incoming_;
  int turn_ = 0;
  bool has_incoming_ = false;
  std::optional<std::uint64_t> seed_;  ///< of a start that the next batch begins with
  bool has_shade_ = false;
  bool has_shares_ = false;
  bool has_unmodulated_ = false;
  Array<int, 1> number_;  ///< of the spot at a place of the order
  Array<float4, 1> place_;
  Array<float, 1> shade_;
  Array<float, 1> share_;
  Array<float2, 1> unmodulated_;
  Array<float, 1> weight_;
  Array<float2, 1> unit_;
  Array<float2, 1> value_;
  Array<SpotPace, 1> pace_;
  Array<float2, 1> sums_;  ///< sum |u|^2 / T^2 and sum |u|^2
  Array<float2, 1> unused_;
};

}  // namespace holotone::spots
