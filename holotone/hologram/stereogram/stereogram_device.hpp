#pragma once
// What the engines of CUDA and OpenCL share: batches of hogels, whose rays the host finds and the device transforms.
// Not for users.
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/stereogram/stereogram_engine.hpp>

namespace holotone::stereogram {

constexpr std::int64_t max_layers = 255;

/// Parameters of the panel for all kernels.
struct Frame {
  std::int64_t n = 0;
  std::int64_t across = 0;     ///< hogels in a row
  std::int64_t first_row = 0;  ///< panel row of the output's first row
  std::int64_t ny = 0;         ///< rows of the output
  std::int64_t nx = 0;
  std::int64_t max_rays = 0;  ///< stride between the rays of consecutive hogels
  std::uint64_t seed = 0;
};

/// Turns of a layer's wave at one pixel from a hogel's centre, the sum of two floats: OpenCL devices may lack float64.
struct LayerTurns {
  float high = 0;
  float low = 0;
};

/// Device memory of a batch of hogels.
struct Batch {
  std::int64_t hogels = 0;
  const Hogel* hogel = nullptr;
  const float* amplitude = nullptr;
  const std::uint8_t* layer = nullptr;  ///< of each ray
  const LayerTurns* turns = nullptr;    ///< {hogels, max_layers}
  Complex* spectrum = nullptr;
};

class DeviceEngine : public Engine {
 public:
  DeviceEngine(const Geometry& geometry, const Queue& queue);
  StereogramReport execute(const ViewSource& source, int channel, const RowRange& part, View<Complex, 2> output,
                           Progress& progress) final;
  [[nodiscard]] std::size_t workspace_bytes() const final;

 protected:
  [[nodiscard]] const Queue& queue() const { return queue_; }

 private:
  // Each enqueues.
  virtual void clear(void* data, std::size_t bytes) = 0;
  /// Writes the rays of one layer, with their phases, into zeroed spectra.
  virtual void scatter(const Frame& frame, const Batch& batch, int layer) = 0;
  /// Writes a layer's waves to the panel, with the curvature; adds them for all layers but the first.
  virtual void write(const Frame& frame, const Batch& batch, int layer, Complex* output) = 0;

  int upload(std::int64_t some);
  void transform(const Frame& frame, std::int64_t some, int layers, Complex* output);

  Geometry geometry_;
  Queue queue_;
  std::int64_t n_;
  std::int64_t batch_;
  std::int64_t rays_;
  FftPlan fft_;
  Array<Complex, 2> spectrum_;
  Array<Hogel, 1> hogels_;
  Array<float, 1> amplitude_;
  Array<std::uint8_t, 1> layer_;
  Array<LayerTurns, 1> turns_;
  std::vector<HogelLight> lights_;
  std::vector<LightScratch> scratch_;
  std::vector<Hogel> host_hogels_;
  std::vector<LayerTurns> host_turns_;
};

}  // namespace holotone::stereogram
