// Rays of hogels to spectra, and their waves to the panel: twins of the kernels of stereogram_cuda.cu. Bound by memory:
// a layer writes and reads each pixel's wave about five times, of which two are the transform's.
#include "holotone/core/array_opencl.cl"
#include "holotone/core/random_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"

#define MOST_LAYERS 255

// As stereogram::Hogel; its doubles are not read here.
typedef struct {
  long center[2];
  long number;
  long first_kx;
  long first_ky;
  long rows;
  long columns;
  long slope[4];
} Hogel;

typedef struct {
  long n;
  long across;
  long first_row;
  long ny;
  long nx;
  long max_rays;
  ulong seed;
} Frame;

static float2 turned(float turns) { return (float2)(cospi(2.0f * turns), sinpi(2.0f * turns)); }

static float2 product(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// The functions below are those of stereogram_math.h.

static float ray_turns(ulong seed, Hogel hogel, long hogel_px, long row, long column) {
  const long kx = hogel.first_kx + column + hogel_px / 2;
  const long ky = hogel.first_ky - row + hogel_px / 2;
  return random_uniform(seed, (ulong)((hogel.number * hogel_px + ky) * hogel_px + kx)) - 0.5f;
}

static long transform_index(long k, long count) { return k < 0 ? k + count : k; }

static float curved_turns(two turns_at_one_px, int i, int hogel_px) {
  const float x = (float)i - 0.5f * (float)(hogel_px - 1);
  return two_reduce(two_multiply(turns_at_one_px, two_of_product(x, x)));
}

__kernel void scatter(Frame frame, int wanted, ARRAY(const Hogel, hogels), ARRAY(const float, amplitude),
                      ARRAY(const uchar, layer), ARRAY(float2, spectrum)) {
  const long which = get_global_id(1);
  const Hogel hogel = AT(hogels)[which];
  const int i = (int)get_global_id(0);
  if (i >= hogel.rows * hogel.columns) return;
  const long from = which * frame.max_rays + i;
  const float light = AT(amplitude)[from];
  if (light == 0.0f || AT(layer)[from] != wanted) return;
  const int row = i / (int)hogel.columns;
  const int column = i - row * (int)hogel.columns;
  const long down = transform_index(row - hogel.first_ky, frame.n);
  const long across = transform_index(hogel.first_kx + column, frame.n);
  const long place = (which * frame.n + down) * frame.n + across;
  AT(spectrum)[place] = light * turned(ray_turns(frame.seed, hogel, frame.n, row, column));
}

__kernel void write_waves(Frame frame, int layer, ARRAY(const Hogel, hogels), ARRAY(const float2, turns),
                          ARRAY(const float2, waves), ARRAY(float2, output)) {
  const int x = (int)get_global_id(0);
  const int m = (int)get_global_id(1);
  const long which = get_global_id(2);
  if (x >= frame.n || m >= frame.n) return;
  const long number = AT(hogels)[which].number;
  const long hogel_row = number / frame.across;
  const long row = hogel_row * frame.n + m - frame.first_row;
  const long column = (number - hogel_row * frame.across) * frame.n + x;
  if (row < 0 || row >= frame.ny || column >= frame.nx) return;
  float2 value = AT(waves)[(which * frame.n + m) * frame.n + x] * (1.0f / (float)frame.n);
  const two layer_turns = AT(turns)[which * MOST_LAYERS + layer];
  if (layer_turns.x != 0.0f) {
    const int n = (int)frame.n;
    value = product(value, product(turned(curved_turns(layer_turns, x, n)), turned(curved_turns(layer_turns, m, n))));
  }
  __global float2 *target = AT(output) + row * frame.nx + column;
  *target = layer > 0 ? *target + value : value;
}
