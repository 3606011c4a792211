#include <algorithm>
#include <holotone/core/parallel.hpp>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/fft_engine.hpp>
#include <holotone/fft/lines_cpu.hpp>

namespace holotone::fft {
namespace {

using Complex = std::complex<float>;

/// Transforms rows in place and columns in blocks that fit a core's cache. FFTW's plan of both axes takes strides down
/// the columns, which is several times slower unless it is measured for seconds.
class CpuEngine final : public Engine {
 public:
  CpuEngine(Shape<2> shape, const FftOptions& options)
      : shape_(shape),
        options_(options),
        column_block_(std::min(shape[1], std::clamp((std::int64_t{1} << 20) / shape[0], std::int64_t{4}, line_block))),
        along_x_{line_plans(shape[1])},
        along_y_{line_plans(shape[0])} {
    memory_.reserve(block_size());
  }

  void execute(Complex* data, FftDirection direction) override {
    memory_.reserve(block_size());  // nothing, unless there are more threads than before
    if (direction == FftDirection::inverse) transform_columns(data, direction);
    transform_rows(data, direction);
    if (direction == FftDirection::forward) transform_columns(data, direction);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return memory_.bytes(); }

 private:
  static constexpr std::int64_t line_block = 16;

  [[nodiscard]] std::int64_t block_size() const {
    return std::max(line_distance(shape_[1]), column_block_ * gathered_distance(shape_[0]));
  }

  [[nodiscard]] bool is_little() const { return options_.batch * element_count(shape_) < threaded_elements; }

  void transform_rows(Complex* data, FftDirection direction) {
    const std::int64_t nx = shape_[1];
    const std::int64_t rows = options_.batch * options_.rows;
    const bool scales = direction == FftDirection::inverse && options_.scale_inverse;
    if (nx == 1 && !scales) return;
    const float factor = scales ? 1.0F / static_cast<float>(element_count(shape_)) : 1.0F;
    const LinePlan<float>& plan = along_x_[direction == FftDirection::inverse];
    Complex* const first = data + options_.first_row * nx;
    const bool in_place = nx % 8 == 0 && reinterpret_cast<std::uintptr_t>(first) % line_alignment == 0;
    memory_.for_each((rows + line_block - 1) / line_block, is_little(), [&](std::int64_t block, Complex* memory) {
      for (std::int64_t y = block * line_block; y < std::min(rows, (block + 1) * line_block); ++y) {
        Complex* const row = first + y * nx;
        Complex* const line = in_place ? row : memory;
        if (!in_place) std::copy_n(row, nx, line);
        plan.execute(line);
        if (scales) {
          for (std::int64_t x = 0; x < nx; ++x) row[x] = line[x] * factor;
        } else if (!in_place) {
          std::copy_n(line, nx, row);
        }
      }
    });
  }

  void transform_columns(Complex* data, FftDirection direction) {
    const auto [ny, nx] = shape_;
    if (ny == 1) return;
    const LinePlan<float>& plan = along_y_[direction == FftDirection::inverse];
    const std::int64_t distance = gathered_distance(ny);
    const std::int64_t blocks = (nx + column_block_ - 1) / column_block_;
    memory_.for_each(options_.batch * blocks, is_little(), [&, rows = ny, step = nx](std::int64_t i, Complex* memory) {
      const std::int64_t x = i % blocks * column_block_;
      const std::int64_t count = std::min(column_block_, step - x);
      Complex* const columns = data + i / blocks * rows * step + x;
      gather_columns(columns, step, rows, count, memory, distance);
      for (std::int64_t b = 0; b < count; ++b) plan.execute(memory + b * distance);
      scatter_columns(memory, distance, rows, count, columns, step);
    });
  }

  Shape<2> shape_;
  FftOptions options_;
  std::int64_t column_block_;  ///< columns transformed at once
  LinePlans along_x_;
  LinePlans along_y_;
  ThreadMemory<Complex> memory_;
};

}  // namespace

EnginePointer engine_cpu(Shape<2> shape, const FftOptions& options) {
  return std::make_unique<CpuEngine>(shape, options);
}

}  // namespace holotone::fft
