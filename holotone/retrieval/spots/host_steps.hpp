#pragma once
// Steps whose sums run on a device and whose spots are weighed on the host. Not for users.
#include <holotone/retrieval/spots/spot_engine.hpp>
#include <holotone/retrieval/spots/spot_pace.hpp>

namespace holotone::spots {

class HostSteps : public Engine {
 public:
  explicit HostSteps(const SpotOptions& options) : options_(options) {}

  void set_light(const Complex* light) final;
  void set_spots(const SpotScene& scene) final;
  void start(std::span<const double> weight, std::span<const Wave> unit, std::span<const std::uint8_t> is_free) final;
  void start(std::uint64_t seed) final;
  void read_state(std::span<double> weight, std::span<Wave> unit) const final;
  void take(std::span<const Step> steps) final;
  [[nodiscard]] std::vector<double> light() const final { return light_; }
  [[nodiscard]] int batch() const final { return 1; }
  void look(int levels) final;
  void read(std::span<Wave> value) const final;
  void codes(View<std::uint8_t, 2> codes) const final;

 protected:
  [[nodiscard]] const SpotOptions& options() const { return options_; }

  virtual void place_light(const Complex* light) = 0;
  virtual void place_spots(std::span<const SpotPlace> spots) = 0;
  /// E = unit(sum_m c_m e_m), with `keep` unit(E + sum_m c_m e_m).
  virtual void build(std::span<const Wave> coefficients, bool keep) = 0;
  /// 1 / (nx ny) sum A E conj(e_m) of the modulated light; levels > 0: of the phase rounded to them.
  virtual void sum_modulated(std::span<Wave> values, int levels) = 0;
  /// The same of the light without a phase of the panel.
  virtual void sum_unmodulated(std::span<Wave> values) = 0;

 private:
  void add_zero_order();
  void build_from_weights();
  void build_from_lack(const Step& step);
  void free_phases();
  void weigh(bool is_locked);

  SpotOptions options_;
  SpotScene scene_;
  std::vector<Wave> unmodulated_;  ///< u of the zero order; empty: none
  std::vector<double> weight_;     ///< w
  std::vector<Wave> unit_;         ///< t
  std::vector<SpotPace> pace_;     ///< of locked steps
  std::vector<Wave> value_;        ///< u of the last look
  std::vector<double> light_;
};

}  // namespace holotone::spots
