#pragma once
// Kernels of CUDA's engine of spots. Not for users.
//
// Sums over spots and over pixels are matrix products in fp16, with sums in float32, of two forms:
//   plane  all spots at z = 0. Columns X and -X share a table C = [cos 2 pi fx j | sin 2 pi fx j], j = X > 0.
//          A field E has rows (Y, re) = [E+ + E- re | E+ - E- im], (Y, im) = [E+ + E- im | E- - E+ re] of 2 `half`.
//          P = E C^T is u's sum along the rows; S = V C, V = v_m exp 2 pi i fy Y, gives sum(+-X) = Se +- i So.
//   space  any chirp. Complex products as three real ones: planes (re, im, re - im) of table and V, (re, im, re + im)
//          of E; P re = t1 + t2, im = t3 - t1 + t2; S re = t1 - t2, im = t1 + t2 - t3.
#include <complex>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <holotone/retrieval/spots/spot_engine.hpp>
#include <holotone/retrieval/spots/spot_pace.hpp>

namespace holotone::spots {

enum class ProductForm { plane, space };

/// A panel in the layout of a form. Columns beyond the panel are dark.
struct Panel {
  int nx = 0;
  int ny = 0;
  int width = 0;  ///< numbers in a row of a table: columns, in the plane form twice `half`; a multiple of 64
  ProductForm form = ProductForm::plane;

  [[nodiscard]] __host__ __device__ int half() const { return width / 2; }
  /// Matrices of a product, and rows of a field in each.
  [[nodiscard]] __host__ __device__ int planes() const { return form == ProductForm::plane ? 1 : 3; }
  [[nodiscard]] __host__ __device__ int rows() const { return form == ProductForm::plane ? 2 * ny : ny; }
  [[nodiscard]] __host__ __device__ std::int64_t numbers() const {
    return static_cast<std::int64_t>(planes()) * rows() * width;
  }
};

/// Spots on the device; their number is padded with spots of target 0.
struct SpotArrays {
  const float4* place = nullptr;        ///< fx, fy in cycles a pixel, chirp in cycles a pixel^2, target
  const float* shade = nullptr;         ///< null: 1
  const float* share = nullptr;         ///< of the gain; null: 1
  const float2* unmodulated = nullptr;  ///< u of the zero order; null: 0
  float* weight = nullptr;
  float2* unit = nullptr;
  float2* value = nullptr;
  SpotPace* pace = nullptr;
};

/// What follows the sums over pixels.
enum class Taken { start, free, locked, kept, held, look };
/// What the next step builds E from: weights, or what spots lack of the phase of their light or of their own.
enum class NextWaves { none, weights, lack, held_lack };

struct SpotUpdate {
  Taken taken = Taken::look;
  NextWaves next = NextWaves::none;
  const float2* level_in = nullptr;  ///< (sum |u|^2 / T^2, sum |u|^2) of the step before
  float2* sums_out = nullptr;        ///< those of this step are added
  float count = 0;                   ///< spots
  float pixel_share = 0;             ///< 1 / (nx ny)
  float gain = 0;
  float scale = 1;  ///< of V
};

/// Element type of V and its table.
enum class WaveType { half, fp8 };

/// Table of spots [0, count): {planes, count, width}, and its transpose {planes, width, count}.
void fill_table(const Panel& panel, const float4* place, int count, __half* table, cudaStream_t stream);
void fill_transposed(const Panel& panel, const float4* place, int count, WaveType type, void* table,
                     cudaStream_t stream);

/// field = light unit(sum + keep field); light {ny, width} is the light's amplitude in the layout of the form (plane:
/// [+X | -X]), null: 1.
void normalise(const Panel& panel, const __half* sum, const __half* light, float keep, __half* field,
               cudaStream_t stream);

/// u from products {planes, rows, count}, the step's update, and V {planes, rows, count} of the next step.
/// `multiprocessors`: of a device with clusters of blocks; else 0.
void update_spots(const Panel& panel, const SpotArrays& spots, int count, const __half* products,
                  const SpotUpdate& update, WaveType type, void* waves, int multiprocessors, cudaStream_t stream);

/// Turns {ny, nx} of the panel's phase, in [0, 1). `light` {ny, nx} has the light's amplitude and phase; null: 1.
/// levels > 0: rounded. Pixels without light have phase 0.
void field_to_turns(const Panel& panel, const __half* field, const float2* light, int levels, float* turns,
                    cudaStream_t stream);
/// round(256 turns) modulo 256 of the same.
void field_to_codes(const Panel& panel, const __half* field, const float2* light, int levels, std::uint8_t* codes,
                    cudaStream_t stream);
/// The light's amplitude in the layout of the form.
void place_amplitude(const Panel& panel, const float2* light, __half* amplitude, cudaStream_t stream);

/// Depth of a group of spots, for fields {ny, nx} of float2.
struct DepthFactor {
  double square = 0;  ///< DepthWave::square
  double turns = 0;   ///< n z / lambda
};
/// sum (+)= products times the factor of a group's depth beyond the paraxial one. `sum` {ny, nx}.
void add_group(const Panel& panel, const __half* products, DepthFactor depth, bool is_first, float2* sum,
               cudaStream_t stream);
/// turns of unit(sum + keep exp(2 pi i turns) light's phase): E of several groups is kept as turns.
void normalise_turns(const Panel& panel, const float2* sum, const float2* light, float keep, float* turns,
                     cudaStream_t stream);
/// light exp(2 pi i turns) times the conjugate factor of a group's depth, in the layout of the form. Null: turns of 0.
void turns_to_group(const Panel& panel, const float* turns, const float2* light, int levels, DepthFactor depth,
                    __half* field, cudaStream_t stream);

/// What a batch of steps begins with.
struct SpotBeginning {
  int count = 0;
  const float4* place_in = nullptr;  ///< becomes `place`; null: that stays
  const float* shade_in = nullptr;
  float4* place = nullptr;
  float* shade = nullptr;
  bool is_start = false;  ///< w = T and t of random_uniform64(seed, number[m]) turns, sums before (level, 0)
  std::uint64_t seed = 0;
  float level = 0;
  const int* number = nullptr;  ///< of a spot in the padded order
  float* weight = nullptr;
  float2* unit = nullptr;
  SpotPace* pace = nullptr;
  /// Before steps of which the last adds to sums[last], the others to sums[1], sums[2] and so on: those of the last
  /// step before go to sums[0]. Without steps they stay.
  float2* sums = nullptr;
  int steps = 0;
  int last = 0;
};
void begin_steps(const SpotBeginning& what, cudaStream_t stream);
/// Copies from page-locked memory, which a kernel does sooner than a copy engine. `shade`: may be null.
void load_places(const float4* place_here, const float* shade_here, int count, float4* place, float* shade,
                 cudaStream_t stream);
/// round(256 turns) modulo 256.
void turns_to_codes(const float* turns, std::int64_t count, std::uint8_t* codes, cudaStream_t stream);
void round_turns(float* turns, std::int64_t count, int levels, cudaStream_t stream);
/// In [0, 2 pi).
void turns_to_radians(const float* turns, std::int64_t count, float* radians, cudaStream_t stream);
void radians_to_turns(const float* radians, std::int64_t count, float* turns, cudaStream_t stream);

}  // namespace holotone::spots
