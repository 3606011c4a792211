#pragma once
// Convolution of fields by their spectrum on the CPU, in three passes over memory. Not for users.
#include <algorithm>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <span>

namespace holotone::fft {

/// Values of a function of |ky|, for ky = 0 to ly / 2.
struct EvenLine {
  std::span<float> real;
  std::span<float> imaginary;
};

/// y = crop(F^-1(H F(pad(x)))), unscaled: x is padded with zeros. H is even along both axes, and computed once for the
/// four samples that share it. Rows are transformed in place; a block of columns is transformed, multiplied and
/// transformed back while it is in a core's cache. Rows of zeros are neither stored nor transformed.
class CpuPaddedFilter {
 public:
  using Complex = std::complex<float>;

  CpuPaddedFilter(Shape<2> field, Shape<2> padded)
      : field_(field),
        padded_(padded),
        rows_({field[0], line_distance(padded[1])}),
        along_x_(line_plans(padded[1])),
        along_y_(line_plans(padded[0])) {
    memory_.reserve(block_size());
  }

  /// The spectrum of the next forward stays for later calls of multiply.
  void keep() {
    if (kept_.empty()) kept_ = Array<Complex, 2>({padded_[1], line_distance(padded_[0])});
    keeps_ = true;
  }

  /// Transforms the rows of a field.
  void forward(const Complex* input) {
    memory_.reserve(block_size());
    for_rows([&](std::int64_t y, Complex* row) {
      std::copy_n(input + y * field_[1], field_[1], row);
      std::fill(row + field_[1], row + padded_[1], Complex{});
      along_x_[0].execute(row);
    });
  }

  /// The columns' part of the filter. fill(kx, line) writes H for 0 <= kx <= lx / 2. `kept`: of the spectrum that is
  /// kept, not of the rows.
  template <class Fill>
  void multiply(const Fill& fill, bool kept = false) {
    memory_.reserve(block_size());
    const std::int64_t half = padded_[1] / 2 + 1;
    memory_.for_each((half + block - 1) / block, is_little(), [&](std::int64_t i, Complex* memory) {
      const std::int64_t first = i * block;
      const std::int64_t last = std::min(half, first + block);
      multiply_block(fill, kept, first, last, memory);
    });
    keeps_ = false;
  }

  /// Transforms the rows back; store(y, row) gets those of the result.
  template <class Store>
  void inverse(const Store& store) {
    for_rows([&](std::int64_t y, Complex* row) {
      along_x_[1].execute(row);
      store(y, row);
    });
  }

  [[nodiscard]] std::size_t workspace_bytes() const { return rows_.bytes() + kept_.bytes() + memory_.bytes(); }

 private:
  static constexpr std::int64_t block = 8;  ///< columns at once, and as many of the opposite frequencies

  [[nodiscard]] std::int64_t distance() const { return gathered_distance(padded_[0]); }
  /// Lines of both kinds, and one of H.
  [[nodiscard]] std::int64_t block_size() const { return (2 * block + 1) * distance(); }
  [[nodiscard]] bool is_little() const { return rows_.size() < threaded_elements; }

  template <class Body>
  void for_rows(const Body& body) {
    memory_.for_each(field_[0], is_little(), [&](std::int64_t y, Complex*) { body(y, &rows_(y, 0)); });
  }

  /// Columns first to last - 1, and lx - last + 1 to lx - first of the opposite frequencies.
  template <class Fill>
  void multiply_block(const Fill& fill, bool kept, std::int64_t first, std::int64_t last, Complex* memory) {
    const std::int64_t opposite = std::max(padded_[1] - last + 1, padded_[1] / 2 + 1);
    const std::int64_t opposite_count = std::min(padded_[1], padded_[1] - first + 1) - opposite;
    Complex* const opposite_lines = memory + block * distance();
    if (!kept) {
      load(first, last - first, memory);
      load(opposite, opposite_count, opposite_lines);
    }
    const auto length = static_cast<std::size_t>(padded_[0] / 2 + 1);
    float* const values = reinterpret_cast<float*>(memory + 2 * block * distance());
    const EvenLine line{{values, length}, {values + length, length}};
    for (std::int64_t x = first; x < last; ++x) {
      fill(x, line);
      filter(x, line, kept, memory + (x - first) * distance());
      const std::int64_t mirrored = padded_[1] - x;
      if (x > 0 && mirrored > x) filter(mirrored, line, kept, opposite_lines + (mirrored - opposite) * distance());
    }
    scatter_columns(memory, distance(), field_[0], last - first, &rows_(0, first), rows_.shape()[1]);
    if (opposite_count > 0) {
      scatter_columns(opposite_lines, distance(), field_[0], opposite_count, &rows_(0, opposite), rows_.shape()[1]);
    }
  }

  void load(std::int64_t first, std::int64_t count, Complex* lines) {
    if (count <= 0) return;
    gather_columns(&rows_(0, first), rows_.shape()[1], field_[0], count, lines, distance());
    for (std::int64_t b = 0; b < count; ++b) {
      std::fill(lines + b * distance() + field_[0], lines + b * distance() + padded_[0], Complex{});
    }
  }

  /// Column x, in a line.
  void filter(std::int64_t x, const EvenLine& h, bool kept, Complex* line) {
    const std::int64_t ly = padded_[0];
    if (kept) {
      std::copy_n(&kept_(x, 0), ly, line);
    } else {
      along_y_[0].execute(line);
      if (keeps_) std::copy_n(line, ly, &kept_(x, 0));
    }
    const auto multiply_by = [&](std::int64_t y, std::size_t i) {
      const Complex v = line[y];
      line[y] = {v.real() * h.real[i] - v.imag() * h.imaginary[i], v.real() * h.imaginary[i] + v.imag() * h.real[i]};
    };
    for (std::int64_t y = 0; y <= ly / 2; ++y) multiply_by(y, static_cast<std::size_t>(y));
    for (std::int64_t y = ly / 2 + 1; y < ly; ++y) multiply_by(y, static_cast<std::size_t>(ly - y));
    along_y_[1].execute(line);
  }

  Shape<2> field_;
  Shape<2> padded_;
  Array<Complex, 2> rows_;  ///< the field's rows, padded
  Array<Complex, 2> kept_;  ///< a spectrum, column by column
  bool keeps_ = false;
  LinePlans along_x_;
  LinePlans along_y_;
  ThreadMemory<Complex> memory_;
};

}  // namespace holotone::fft
