#pragma once
// Transforms between the oversampled grid and the modes, on CUDA, float32. Not for users.
#include <holotone/fft/cuda_handle.hpp>
#include <holotone/nufft/nufft_engine.hpp>
#include <holotone/nufft/spread_cuda.cuh>
#include <vector>

namespace holotone::nufft {

/// A grid, the transforms between it and the modes, and the factors that deconvolve the window. `components` is 1 for
/// real cells and half the modes, 2 for complex cells. In two dimensions only the columns of requested modes are
/// transformed along the slower axis.
template <std::size_t Rank>
class GridTransform {
 public:
  GridTransform(const Setup<Rank>& setup, const Queue& queue);

  [[nodiscard]] GridCells<Rank> cells(int components) const;
  /// modes = factors * forward transform of the grid, which is overwritten.
  void forward(int components, float2* modes);
  /// grid = inverse transform of factors * modes, zero at the other frequencies.
  void inverse(int components, const float2* modes);
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// State for one cell type, complex or real.
  struct Side {
    std::unique_ptr<fft::Handle> rows;          ///< both directions, or forward; three dimensions: the whole grid
    std::unique_ptr<fft::Handle> rows_inverse;  ///< real cells
    std::unique_ptr<fft::Handle> columns;       ///< two dimensions
    std::int64_t spectrum = 0;                  ///< coefficients of a row
    std::int64_t run = 0;                       ///< adjacent columns that `columns` transforms
    std::vector<std::int64_t> run_begin;
    Array<float, 1> factor;  ///< of the fastest axis' modes
  };

  void make_side(const Setup<Rank>& setup, Side& side, bool real);
  void transform_columns(const Side& side, int sign);
  [[nodiscard]] float2* grid() const { return static_cast<float2*>(grid_.data()); }
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }

  Shape<Rank> modes_;
  Shape<Rank> extent_;
  Queue queue_;
  std::size_t work_bytes_ = 0;
  Buffer grid_;
  Buffer work_area_;
  Side sides_[2];                     ///< complex, real
  Array<float, 1> factor_[Rank - 1];  ///< of the slower axes' modes, slowest first
};

}  // namespace holotone::nufft
