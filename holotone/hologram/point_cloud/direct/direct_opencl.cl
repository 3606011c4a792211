// The direct sum over points. SPHERICAL: 0 for the Fresnel wave, else the sphere's lag in 1: float, 2: two floats.
// LIMITED: 1 for the exact wave's band limit. FALLOFF: 1 if amplitudes fall as 1 / r.
// Options: -DREAL_ALONE=0 -DSPHERICAL=0 -DLIMITED=0 -DFALLOFF=0 -DNATIVE=1
// Options: -DREAL_ALONE=1 -DSPHERICAL=1 -DLIMITED=1 -DFALLOFF=0 -DNATIVE=0
// Options: -DREAL_ALONE=0 -DSPHERICAL=2 -DLIMITED=1 -DFALLOFF=1 -DNATIVE=1
#include "holotone/hologram/point_cloud/direct/sum_opencl.cl"

// One point for a column of pixels.
typedef struct {
  float a_high;
  float a_low;
  float amplitude;
  float x_whole;
  float x_rest;
  float first;
  float last;
} ColumnRecord;

// Largest pitch / d: squares of pixels times it stay finite. Points so near light no pixel beside their own.
#define MAX_SLOPE 1e8f

// Lag of the spherical phase behind the Fresnel phase in turns, reduced: a rho^2 s / (1 + sqrt(1 + s))^2 with
// s = (rho / d)^2 and pitch / d = slope_per_a a. A float suffices where the lag is a few turns.
#if SPHERICAL == 1
static float spherical_lag(const ColumnRecord *record, float u, float v, float2 slope_per_a) {
  const float a = record->a_high;
  const float rho_square = u * u + v * v;
  const float slope = clamp(a * slope_per_a.x, -MAX_SLOPE, MAX_SLOPE);
  const float s = rho_square * slope * slope;
  const float root = 1.0f + sqrt(1.0f + s);
  const float lag = a * rho_square * (s / (root * root));
  return lag - rint(lag);
}
#elif SPHERICAL == 2
static float spherical_lag(const ColumnRecord *record, float u, float v, float2 slope_per_a) {
  const two a = (two)(record->a_high, record->a_low);
  const two rho_square = two_add(two_of_product(u, u), two_of_product(v, v));
  const two exact = two_multiply(a, slope_per_a);
  const two slope = fabs(exact.x) <= MAX_SLOPE ? exact : (two)(copysign(MAX_SLOPE, exact.x), 0.0f);
  const two s = two_multiply(rho_square, two_multiply(slope, slope));
  const two one = (two)(1.0f, 0.0f);
  const two root = two_add(one, two_square_root(two_add(one, s)));
  return two_reduce(two_multiply(two_multiply(a, rho_square), two_divide(s, two_multiply(root, root))));
}
#endif

#if FALLOFF
// |d| / r, also of points far nearer than a pixel.
static float share_of_pixel(const ColumnRecord *record, float u, float v, float slope_per_a) {
  const float tangent = fabs(record->a_high * slope_per_a) * sqrt(u * u + v * v);
  return tangent > 1e9f ? 1.0f / tangent : 1.0f / sqrt(1.0f + tangent * tangent);
}
#endif

#if LIMITED
// soft_edge of point_cloud_math.h.
static float soft_edge(float t) {
  const float x = clamp(t, 0.0f, 1.0f);
  const float c = cospi(0.5f * x * x * x * (10.0f + x * (6.0f * x - 15.0f)));
  return x >= 1.0f ? 0.0f : c * c;
}

// b of point_cloud_math.h; per_limit: 1 / s1.
static float light_of_pixel(const ColumnRecord *record, float u, float v, float slope_per_a, float per_limit) {
  const float slope = fmin(fabs(record->a_high * slope_per_a), MAX_SLOPE);
  const float x = fabs(u) * slope;
  const float y = fabs(v) * slope;
  const float square = x * x + y * y;
  const float cosine = 1.0f / sqrt(1.0f + square);
  return soft_edge((x * cosine * per_limit - 0.95f) * 20.0f) * soft_edge((y * cosine * per_limit - 0.95f) * 20.0f) *
         soft_edge((sqrt(square) * cosine - 0.93f) * 20.0f);
}
#endif

#define TILE_COLUMNS 128
#define TILE_ROWS 8
#define TILE_POINTS 64
#define TWO_PI 6.28318531f

// A group sums TILE_COLUMNS x TILE_ROWS pixels; an item owns one column and all rows. The column's part of a phase is
// computed once for each item and point, the row's once for each group and point.
__kernel __attribute__((reqd_work_group_size(TILE_COLUMNS, 1, 1))) void direct_sum(
    ARRAY(const float4, position), ARRAY(const float4, wave), ARRAY(const float4, lit), long padded_count, int nx,
    int first_row, int rows, float2 slope_per_a, float per_limit, OUTPUT) {
  __local ColumnRecord column_of[TILE_POINTS];
  __local float row_phase[TILE_POINTS][TILE_ROWS];   // the row's part of the phase in radians, reduced
  __local float row_lit[TILE_POINTS][TILE_ROWS];     // 1 or 0
#if SPHERICAL
  __local float row_offset[TILE_POINTS][TILE_ROWS];  // v in pixels
#endif
  const int item = (int)get_local_id(0);
  const int column = (int)get_global_id(0);
  const int row0 = (int)get_group_id(1) * TILE_ROWS;  // relative to the part
  // Spelled out: Intel's runtime for CPUs would add the column's number after rounding its difference from a point.
  const float x = convert_float_rte(column);
  float re[TILE_ROWS], re_lost[TILE_ROWS], im[TILE_ROWS], im_lost[TILE_ROWS];
  for (int r = 0; r < TILE_ROWS; ++r) re[r] = re_lost[r] = im[r] = im_lost[r] = 0.0f;
  for (long base = 0; base < padded_count; base += TILE_POINTS) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < TILE_POINTS * TILE_ROWS; i += TILE_COLUMNS) {
      const int p = i / TILE_ROWS;
      const int r = i % TILE_ROWS;
      const float4 own_position = AT(position)[base + p];
      const float4 own_wave = AT(wave)[base + p];
      const float4 own_lit = AT(lit)[base + p];
      const float row = (float)(first_row + row0 + r);
      const float turns = reduced_turns(row, own_position.z, own_position.w, own_wave.x, own_wave.y) + own_wave.w;
      row_phase[p][r] = TWO_PI * (turns - rint(turns));
      row_lit[p][r] = row >= own_lit.z && row <= own_lit.w ? 1.0f : 0.0f;
#if SPHERICAL
      row_offset[p][r] = (row - own_position.z) - own_position.w;
#endif
      if (r == 0) {
        const ColumnRecord record = {own_wave.x, own_wave.y, own_wave.z, own_position.x,
                                     own_position.y, own_lit.x, own_lit.y};
        column_of[p] = record;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float re_batch[TILE_ROWS], im_batch[TILE_ROWS];
    for (int r = 0; r < TILE_ROWS; ++r) re_batch[r] = im_batch[r] = 0.0f;
    for (int p = 0; p < TILE_POINTS; ++p) {
      const ColumnRecord record = column_of[p];
      const float phase =
          TWO_PI * reduced_turns(x, record.x_whole, record.x_rest, record.a_high, record.a_low);
      const float amplitude = x >= record.first && x <= record.last ? record.amplitude : 0.0f;
#pragma unroll
      for (int r = 0; r < TILE_ROWS; ++r) {
        float sum = phase + row_phase[p][r];
#if SPHERICAL
        sum -= TWO_PI * spherical_lag(&record, (x - record.x_whole) - record.x_rest, row_offset[p][r], slope_per_a);
#endif
        float weight = amplitude * row_lit[p][r];
#if LIMITED
        weight *= light_of_pixel(&record, (x - record.x_whole) - record.x_rest, row_offset[p][r], slope_per_a.x,
                                 per_limit);
#endif
#if FALLOFF
        weight *= share_of_pixel(&record, (x - record.x_whole) - record.x_rest, row_offset[p][r], slope_per_a.x);
#endif
        re_batch[r] = fma(weight, COSINE(sum), re_batch[r]);
#if !REAL_ALONE
        im_batch[r] = fma(weight, SINE(sum), im_batch[r]);
#endif
      }
    }
    for (int r = 0; r < TILE_ROWS; ++r) {
      add_compensated(&re[r], &re_lost[r], re_batch[r]);
#if !REAL_ALONE
      add_compensated(&im[r], &im_lost[r], im_batch[r]);
#endif
    }
  }
  if (column >= nx) return;
  for (int r = 0; r < TILE_ROWS; ++r) {
    if (row0 + r < rows) WRITE((long)(row0 + r) * nx + column, re[r], im[r])
  }
}
