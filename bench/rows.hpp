#pragma once
// The rows of holotone_bench; one function for each *_bench.cpp.
#include <bench/measure.hpp>
#include <cstdint>
#include <string>

namespace bench {

struct RowOptions {
  holotone::Device device;
  std::int64_t max_points = 1048576;  ///< rows with more points or dots are skipped
  std::string scan{};                 ///< file with the 437,645 vertices of hologram/fast_dragon; empty: no such row
  std::string picture{};              ///< picture of smoe/fit, 768 x 512; empty: no such row
  std::string target{};               ///< picture of optimize/*, 1920 x 1080; empty: no such rows
  std::int64_t out_of_core = 4096;    ///< side of the field of propagate/out_of_core, up to 65536
  std::int64_t resident = 0;          ///< side of the field of propagate/resident; 0: no such rows
  bool prices = false;                ///< with hologram/price/*, which bench/method_prices.py fits
  bool sweep = false;                 ///< with hologram/sweep/*, which bench/method_sweep.py compares
};

/// hologram/direct, separable, separable_real, separable_near, adjoint, video, price: point_cloud_bench.cpp
void add_point_cloud_rows(const RowOptions& options);

/// hologram/fast*: point_cloud_fast_bench.cpp
void add_point_cloud_fast_rows(const RowOptions& options);

/// hologram/sweep/*: method_sweep_bench.cpp
void add_method_sweep_rows(const RowOptions& options);

/// propagate/*, reconstruct/*, eye/*, layers/*, fft/*: propagation_bench.cpp
void add_propagation_rows(const RowOptions& options);

/// stereogram/chess: stereogram_bench.cpp
void add_stereogram_rows(const RowOptions& options);

/// vded, error_diffusion: error_diffusion_bench.cpp
void add_error_diffusion_rows(const RowOptions& options);

/// nufft/type1, type2, type2_gradient, set_points: nufft_bench.cpp
void add_nufft_rows(const RowOptions& options);

/// halftone/step, full, init, step_direct: halftone_bench.cpp
void add_halftone_rows(const RowOptions& options);

/// smoe/render, render_window, views, fit: smoe_bench.cpp
void add_smoe_rows(const RowOptions& options);

/// optimize/*: retrieval_bench.cpp
void add_retrieval_rows(const RowOptions& options);

/// spots/*: spots_bench.cpp
void add_spots_rows(const RowOptions& options);

/// panel/*: panel_bench.cpp
void add_panel_rows(const RowOptions& options);

/// sequence/*: sequence_bench.cpp
void add_sequence_rows(const RowOptions& options);

/// cpu/sincos and cpu/sgemm, limits of the CPU for the engines: cpu_limits_bench.cpp
void add_cpu_limits(const RowOptions& options);

}  // namespace bench
