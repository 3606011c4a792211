#pragma once
// What the engines of CUDA and OpenCL share: tables in device memory, filters by FFT, the measured range.
// Not for users.
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/encode_engine.hpp>
#include <holotone/hologram/encode_math.h>
#include <optional>

namespace holotone::encoding {

/// Kernel parameters for some rows of the panel; pointers are device memory, tables of rows begin at the first of them.
struct Parameters {
  std::int64_t count, nx;
  std::int64_t odd;  ///< 1 if the first row is an odd row of the panel, for the checkerboard
  PhaseLevels phase;
  PhaseShift shift;
  const Complex32* beam_column;
  const Complex32* beam_row;
  float levels, low, high;
  const std::uint32_t* peak;  ///< bits of the largest magnitude, or null if low and high are given
  bool symmetric;
};

class DeviceEngine : public Engine {
 public:
  DeviceEngine(const Tables& tables, const Queue& queue);
  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint16_t, 2> codes) final {
    run({first_row, field.shape()[0]}, field.data(), codes.data());
  }
  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes) final {
    run({first_row, field.shape()[0]}, field.data(), codes.data());
  }
  float peak(std::int64_t first_row, View<const Complex, 2> field) final;
  [[nodiscard]] EncodeReport report() const final;
  [[nodiscard]] std::size_t workspace_bytes() const final;

 protected:
  [[nodiscard]] Encoding encoding() const { return encoding_; }
  [[nodiscard]] const Queue& queue() const { return queue_; }

 private:
  // Each enqueues.
  virtual void clear(void* data, std::size_t bytes) = 0;
  /// Clears these bins in each of `rows` rows of nx.
  virtual void remove_bins(Complex* spectrum, std::int64_t rows, std::int64_t nx, const RemovedBins& bins) = 0;
  /// Raises the peak to the largest of the magnitudes that determine the range. NaN never wins. Floats >= 0 have the
  /// order of their bits, so that atomics of integers do it in any order.
  virtual void measure(const Parameters& parameters, const Complex32* field, std::uint32_t* peak) = 0;
  virtual void encode(const Parameters& parameters, const Complex32* field, std::uint16_t* codes) = 0;
  virtual void encode(const Parameters& parameters, const Complex32* field, std::uint8_t* codes) = 0;

  template <class Code>
  void run(const RowRange& part, const Complex* field, Code* codes);
  void measure_rows(const RowRange& part, const Complex* field, Array<std::uint32_t, 1>& peak);
  [[nodiscard]] float fetched(const Array<std::uint32_t, 1>& peak) const;
  template <class Body>
  void for_blocks(const RowRange& part, const Complex* field, const Body& body);
  const Complex* upper_sideband(const Complex* field);
  const Complex* band_limited(const Complex* field, std::int64_t rows);
  [[nodiscard]] Parameters make_parameters(const RowRange& part) const;

  Encoding encoding_;
  Shape<2> shape_;
  Queue queue_;
  Array<float, 1> boundary_;
  Array<std::uint16_t, 1> code_;
  Array<std::int32_t, 1> bucket_;
  Array<float, 1> shift_column_;
  Array<float, 1> shift_row_;
  Array<float, 1> shift_map_;
  Array<Complex, 1> beam_column_;
  Array<Complex, 1> beam_row_;
  Array<std::uint32_t, 1> peak_;
  Array<Complex, 2> spectrum_;
  std::optional<FftPlan> fft_;
  Parameters whole_{};
  bool ran_ = false;
};

}  // namespace holotone::encoding
