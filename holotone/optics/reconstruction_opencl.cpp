#include <holotone/core/kernel_opencl.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/reconstruction_engine.hpp>

namespace holotone::reconstruction {
namespace {

using opencl::over;
using opencl::two_floats;

constexpr auto source = "holotone/optics/reconstruction_opencl.cl";
constexpr opencl::Range group{64, 4, 1};

/// Pupil of reconstruction_opencl.cl.
struct OpenclPupil {
  cl_float2 chirp_rate;
  cl_float2 step_x;
  cl_float2 step_y;
  cl_float2 centre_x;
  cl_float2 centre_y;
  cl_float2 radius_squared;
  cl_int ny;
  cl_int nx;
  cl_int ly;
  cl_int lx;
  float gain;
};

OpenclPupil in_periods(const Pupil& pupil) {
  return {two_floats(pupil.chirp_rate),
          two_floats(1 / static_cast<double>(pupil.lx)),
          two_floats(1 / static_cast<double>(pupil.ly)),
          two_floats(pupil.x / pupil.period),
          two_floats(-pupil.y / pupil.period),
          two_floats(pupil.radius_squared / (pupil.period * pupil.period)),
          static_cast<cl_int>(pupil.ny),
          static_cast<cl_int>(pupil.nx),
          static_cast<cl_int>(pupil.ly),
          static_cast<cl_int>(pupil.lx),
          pupil.gain};
}

class PupilOpencl final : public PupilEngine {
 public:
  PupilOpencl(const FieldGrid& grid, const Aperture& aperture, const Queue& queue)
      : grid_(grid),
        pupil_(in_periods(make_pupil(grid, aperture))),
        queue_(queue),
        chirp_(queue, source, "fill_chirp"),
        pad_(queue, source, "pad_chirped"),
        stop_(queue, source, "stop"),
        crop_(queue, source, "crop_unchirped"),
        down_({grid.ny}, queue),
        across_({grid.nx}, queue),
        fft_({pupil_.ly, pupil_.lx}, queue, {.scale_inverse = false, .rows = pupil_.ny}) {
    fill_chirps();
  }

  void set_aperture(const Aperture& aperture) override {
    pupil_ = in_periods(make_pupil(grid_, aperture));
    fill_chirps();
  }

  void apply(View<const Complex, 2> input, View<Complex, 2> output) override {
    Array<Complex, 2> padded({pupil_.ly, pupil_.lx}, queue_);
    pad_(over(pupil_.lx, pupil_.ly), group, input.data(), padded.data(), pupil_, down_.data(), across_.data());
    fft_.execute(padded.view(), FftDirection::forward);
    stop_(over(pupil_.lx, pupil_.ly), group, padded.data(), pupil_);
    fft_.execute(padded.view(), FftDirection::inverse);
    crop_(over(pupil_.nx, pupil_.ny), group, padded.data(), output.data(), pupil_, down_.data(), across_.data());
  }

 private:
  void fill_chirps() {
    constexpr opencl::Range line{64, 1, 1};
    chirp_(over(grid_.ny), line, down_.data(), pupil_.ny, pupil_.chirp_rate);
    chirp_(over(grid_.nx), line, across_.data(), pupil_.nx, pupil_.chirp_rate);
  }

  FieldGrid grid_;
  OpenclPupil pupil_;
  Queue queue_;
  opencl::Kernel chirp_;
  opencl::Kernel pad_;
  opencl::Kernel stop_;
  opencl::Kernel crop_;
  Array<Complex, 1> down_;  ///< q along the panel's axes
  Array<Complex, 1> across_;
  FftPlan fft_;
};

}  // namespace

PupilPointer pupil_opencl(const FieldGrid& grid, const Aperture& aperture, const Queue& queue) {
  return std::make_unique<PupilOpencl>(grid, aperture, queue);
}

}  // namespace holotone::reconstruction
