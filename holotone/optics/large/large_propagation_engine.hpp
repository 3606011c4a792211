#pragma once
// Interface between the plan (large_propagation.cpp, the one dispatch) and its engines. Not for users.
#include <algorithm>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/large/large_propagation_math.h>
#include <holotone/optics/propagation_math.h>
#include <memory>

namespace holotone::large_propagation {

struct Job {
  Kept row;       ///< of the field, in the padded row
  Kept spectrum;  ///< of the padded row's transform
  Kept column;    ///< of the field, in the padded column
  propagation::Transfer transfer;
  std::int64_t rows = 0;     ///< of a band, at most
  std::int64_t columns = 0;  ///< of a strip, at most
};

/// Transforms of bands and strips on one device. Pointers are the device's. GPU: only enqueues.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Forward: rows of the field {count, nx} to rows of the spectrum {count, W}; inverse: back. Both arrays may begin at
  /// the same address on a GPU.
  virtual void transform_rows(const Complex* from, Complex* to, std::int64_t count, FftDirection direction) = 0;
  /// Propagates columns first to first + count - 1 of the spectrum in place, samples of a column `step` apart.
  virtual void propagate_columns(Complex* columns, std::int64_t step, std::int64_t first, std::int64_t count) = 0;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
};

using EnginePointer = std::unique_ptr<Engine>;

EnginePointer engine_cpu(const Job& job);
EnginePointer engine_cuda(const Job& job, const Queue& queue);
EnginePointer engine_opencl(const Job& job, const Queue& queue);

/// Lines in a GPU's memory and their transforms along both axes.
struct Lines {
  Lines(const Job& job, const Queue& queue)
      : along_x({1, job.row.length}, queue, {.scale_inverse = false, .batch = job.rows}),
        along_y({1, job.column.length}, queue, {.scale_inverse = false, .batch = job.columns}),
        values({std::max(job.rows * job.row.length, job.columns * job.column.length)}, queue),
        bands{job.rows, job.row.length},
        strips{job.columns, job.column.length} {}

  /// Transforms every line of a whole band or strip; those beyond the present one hold what earlier ones left.
  void rows(FftDirection direction) { along_x.execute({values.data(), bands, values.device()}, direction); }
  void columns(FftDirection direction) { along_y.execute({values.data(), strips, values.device()}, direction); }
  [[nodiscard]] std::size_t bytes() const {
    return values.bytes() + along_x.workspace_bytes() + along_y.workspace_bytes();
  }

  FftPlan along_x;
  FftPlan along_y;
  Array<Complex, 1> values;
  Shape<2> bands;
  Shape<2> strips;
};

}  // namespace holotone::large_propagation
