#include <algorithm>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <holotone/optics/large/large_propagation_engine.hpp>

namespace holotone::large_propagation {
namespace {

using propagation::Transfer;

/// Writes a whole line: the kept samples at their places, zeros between.
void spread(const Complex* samples, const Kept& kept, Complex* line) {
  std::copy_n(samples, kept.head, line);
  std::fill(line + kept.head, line + kept.length - kept.tail, Complex{});
  std::copy_n(samples + kept.head, kept.tail, line + kept.length - kept.tail);
}

void gather(const Complex* line, const Kept& kept, Complex* samples) {
  std::copy_n(line, kept.head, samples);
  std::copy_n(line + kept.length - kept.tail, kept.tail, samples + kept.head);
}

/// v *= (re, im); std::complex's own product tests for infinities.
void multiply(Complex& v, float re, float im) { v = {v.real() * re - v.imag() * im, v.real() * im + v.imag() * re}; }

/// Multiplies a line along y by H, which is even, at a frequency along x. `scratch`: length + 2 numbers.
void multiply_transfer(Complex* line, std::int64_t length, std::int64_t x, const Transfer& t, float* scratch) {
  const std::int64_t half = length / 2;
  float* const turns = scratch;
  float* const gain = scratch + half + 1;
  const double fx = static_cast<double>(x) * t.step_x;
  const double fx2 = fx * fx;
  for (std::int64_t y = 0; y <= half; ++y) {
    const double fy = static_cast<double>(y) * t.step_y;
    const double fy2 = fy * fy;
    const double rest = propagation::transfer_rest(t, fx2, fy2);
    turns[y] = propagation::transfer_turns(t, rest);
    gain[y] = propagation::transfer_kept(t, rest, fx2, fy2) ? t.gain : 0.0F;
  }
  for (std::int64_t y = 0; y <= half; ++y) {
    float sine = 0;
    float cosine = 0;
    sincos_turns(turns[y], sine, cosine);
    turns[y] = cosine * gain[y];
    gain[y] *= sine;
  }
  for (std::int64_t y = 0; y <= half; ++y) multiply(line[y], turns[y], gain[y]);
  for (std::int64_t y = half + 1; y < length; ++y) multiply(line[y], turns[length - y], gain[length - y]);
}

/// Transforms lines in memory of each thread, from and to the caller's arrays: nothing is copied besides.
class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const Job& job)
      : job_(job),
        block_(std::clamp((std::int64_t{1} << 20) / job.column.length, std::int64_t{4}, std::int64_t{16})),
        along_x_{fft::line_plans(job.row.length)},
        along_y_{fft::line_plans(job.column.length)} {}

  void transform_rows(const Complex* from, Complex* to, std::int64_t count, FftDirection direction) override {
    constexpr std::int64_t at_once = 4;
    const bool forward = direction == FftDirection::forward;
    const Kept& before = forward ? job_.row : job_.spectrum;
    const Kept& after = forward ? job_.spectrum : job_.row;
    const auto& plan = along_x_[forward ? 0 : 1];
    lines_.reserve(fft::line_distance(job_.row.length));
    const bool little = count * job_.row.length < fft::threaded_elements;
    lines_.for_each((count + at_once - 1) / at_once, little, [&](std::int64_t block, Complex* line) {
      for (std::int64_t y = block * at_once; y < std::min(count, (block + 1) * at_once); ++y) {
        spread(from + y * kept_count(before), before, line);
        plan.execute(line);
        gather(line, after, to + y * kept_count(after));
      }
    });
  }

  void propagate_columns(Complex* columns, std::int64_t step, std::int64_t first, std::int64_t count) override {
    const std::int64_t ny = job_.column.head;
    const std::int64_t length = job_.column.length;
    const std::int64_t distance = fft::gathered_distance(length);
    // The factors of H lie behind the lines, as many floats as a line has.
    lines_.reserve((block_ + 1) * distance);
    const bool little = count * length < fft::threaded_elements;
    lines_.for_each((count + block_ - 1) / block_, little, [&](std::int64_t block, Complex* lines) {
      const std::int64_t x = block * block_;
      const std::int64_t wide = std::min(block_, count - x);
      auto* const scratch = reinterpret_cast<float*>(lines + block_ * distance);
      fft::gather_columns(columns + x, step, ny, wide, lines, distance);
      for (std::int64_t b = 0; b < wide; ++b) {
        Complex* const line = lines + b * distance;
        std::fill(line + ny, line + length, Complex{});
        along_y_[0].execute(line);
        multiply_transfer(line, length, kept_frequency(job_.spectrum, first + x + b), job_.transfer, scratch);
        along_y_[1].execute(line);
      }
      fft::scatter_columns(lines, distance, ny, wide, columns + x, step);
    });
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return lines_.bytes(); }

 private:
  Job job_;
  std::int64_t block_;  ///< columns of a thread at once
  fft::LinePlans along_x_;
  fft::LinePlans along_y_;
  ThreadMemory<Complex> lines_;
};

}  // namespace

EnginePointer engine_cpu(const Job& job) { return std::make_unique<CpuEngine>(job); }

}  // namespace holotone::large_propagation
