// The sum of Fresnel waves on CPUs: a work item sums a tile in vectors of sixteen pixels, with phases in 32-bit fixed
// point, whose overflow drops whole turns, and cosines by a polynomial.
// RECURRENCE: 1 if the columns' phases follow each other by Shimobaba et al. 2010, Eq. (2), else each by its square.
// Options: -DREAL_ALONE=0 -DRECURRENCE=0 -DNATIVE=0
// Options: -DREAL_ALONE=1 -DRECURRENCE=1 -DNATIVE=0
#include "holotone/hologram/point_cloud/direct/sum_opencl.cl"

#define TILE_COLUMNS 128
#define TILE_ROWS 32
#define VECTORS (TILE_COLUMNS / 16)
#define GROUP_POINTS 4   // added in one pass over the tile: its sums are loaded and stored once for all of them
#define BATCH_POINTS 512  // added in float before their sum is added to the pixel's: a million points keep 1e-6
#define QUARTER_TURN 0x40000000u

// Cosine of 2 pi turns / 2^32, error below 1.8e-7: sin(pi / 2 y) with y = 1 - 4 |turns|, exact in integers.
static float16 fixed_cosine(uint16 turns) {
  const int16 shifts = as_int16(turns);
  const int16 size = shifts ^ (shifts >> 31);  // |turns|, less one unit where negative
  const float16 y = convert_float16((int16)(QUARTER_TURN) - size) * 0x1p-30f;
  const float16 z = y * y;
  return y * fma(z, fma(z, fma(z, fma(z, (float16)(1.492829906e-4f), (float16)(-0.004668946844f)),
                               (float16)(0.07968617976f)),
                        (float16)(-0.6459627748f)),
                 (float16)(1.570796251f));
}

// Turns in [-1, 1] in fixed point.
static uint16 fixed_of(float16 turns) { return as_uint16(convert_int16_sat((turns - rint(turns)) * 0x1p32f)); }

// a u^2 of sixteen columns in fixed point; see reduced_turns.
static uint16 column_turns(float16 x, float4 position, float4 wave) {
  const float16 difference = x - position.x;
  const float16 u = difference - position.y;
  const float16 u_error = (difference - u) - position.y;
  const float16 square = u * u;
  const float16 square_error = fma(u, u, -square) + 2.0f * u * u_error;
  const float16 a = wave.x;
  const float16 turns = a * square;
  const float16 low = fma((float16)(wave.y), square, fma(a, square_error, fma(a, square, -turns)));
  return fixed_of(turns) + fixed_of(low);
}

static uint row_turns(float row, float4 position, float4 wave) {
  const float turns = reduced_turns(row, position.z, position.w, wave.x, wave.y) + wave.w;
  return as_uint(convert_int_sat((turns - rint(turns)) * 0x1p32f));
}

// Phases of the tile's columns, sixteen in a vector.
static void set_columns(uint16 *columns, float x0, float4 position, float4 wave) {
  const float16 lanes = (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#if RECURRENCE
  uint16 gamma = column_turns(x0 + lanes, position, wave);
  uint16 delta;
  for (int lane = 0; lane < 16; ++lane) {
    // a ((u + 16)^2 - u^2)
    const two u = two_of_sum((x0 + lane) - position.x, -position.y);
    ((uint *)&delta)[lane] = two_fixed(two_multiply(wave.xy, two_add(32.0f * u, (two)(256.0f, 0.0f))));
  }
  const uint second = two_fixed(512.0f * wave.xy);
  for (int v = 0; v < VECTORS; ++v) {
    columns[v] = gamma;
    gamma += delta;
    delta += second;
  }
#else
  for (int v = 0; v < VECTORS; ++v) columns[v] = column_turns(x0 + 16 * v + lanes, position, wave);
#endif
}

__kernel void wide_sum(ARRAY(const float4, position), ARRAY(const float4, wave), ARRAY(const float4, lit),
                          long padded_count, int nx, int first_row, int rows, float2 slope_per_a, float per_limit,
                          OUTPUT) {
  const int column0 = (int)get_global_id(0) * TILE_COLUMNS;
  const int row0 = (int)get_global_id(1) * TILE_ROWS;  // relative to the part
  if (column0 >= nx || row0 >= rows) return;
  const float x0 = (float)column0;
  const float y0 = (float)(first_row + row0);
  const float16 lanes = (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  float16 re[TILE_ROWS][VECTORS], re_batch[TILE_ROWS][VECTORS];
#if !REAL_ALONE
  float16 im[TILE_ROWS][VECTORS], im_batch[TILE_ROWS][VECTORS];
#endif
  for (int r = 0; r < TILE_ROWS; ++r) {
    for (int v = 0; v < VECTORS; ++v) {
      re[r][v] = re_batch[r][v] = 0.0f;
#if !REAL_ALONE
      im[r][v] = im_batch[r][v] = 0.0f;
#endif
    }
  }
  for (long base = 0; base < padded_count; base += GROUP_POINTS) {
    uint16 columns[GROUP_POINTS][VECTORS];
    uint turns[GROUP_POINTS][TILE_ROWS];
    float amplitude[GROUP_POINTS];
    bool any = false;
    bool all = true;
    for (int k = 0; k < GROUP_POINTS; ++k) {
      const float4 own_position = AT(position)[base + k];
      const float4 own_wave = AT(wave)[base + k];
      const float4 own_lit = AT(lit)[base + k];
      const bool lights = own_lit.x <= x0 + (TILE_COLUMNS - 1) && own_lit.y >= x0 &&
                          own_lit.z <= y0 + (TILE_ROWS - 1) && own_lit.w >= y0 && own_wave.z != 0.0f;
      any = any || lights;
      all = all && (!lights || (own_lit.x <= x0 && own_lit.y >= x0 + (TILE_COLUMNS - 1) && own_lit.z <= y0 &&
                                own_lit.w >= y0 + (TILE_ROWS - 1)));
      amplitude[k] = lights ? own_wave.z : 0.0f;
      set_columns(columns[k], x0, own_position, own_wave);
      for (int r = 0; r < TILE_ROWS; ++r) turns[k][r] = row_turns(y0 + r, own_position, own_wave);
    }
    if (all && any) {
      for (int r = 0; r < TILE_ROWS; ++r) {
        for (int v = 0; v < VECTORS; ++v) {
          float16 re_sum = 0.0f;
#if !REAL_ALONE
          float16 im_sum = 0.0f;
#endif
#pragma unroll
          for (int k = 0; k < GROUP_POINTS; ++k) {
            const uint16 phase = columns[k][v] + turns[k][r];
            re_sum = fma((float16)(amplitude[k]), fixed_cosine(phase), re_sum);
#if !REAL_ALONE
            im_sum = fma((float16)(amplitude[k]), fixed_cosine(phase - QUARTER_TURN), im_sum);
#endif
          }
          re_batch[r][v] += re_sum;
#if !REAL_ALONE
          im_batch[r][v] += im_sum;
#endif
        }
      }
    } else if (any) {
      for (int k = 0; k < GROUP_POINTS; ++k) {
        if (amplitude[k] == 0.0f) continue;
        const float4 own_lit = AT(lit)[base + k];
        const int last = (int)fmin(own_lit.w - y0, TILE_ROWS - 1.0f);
        for (int v = 0; v < VECTORS; ++v) {
          const float16 x = x0 + 16 * v + lanes;
          const float16 weight =
              select((float16)(0.0f), (float16)(amplitude[k]), (x >= own_lit.x) & (x <= own_lit.y));
          for (int r = (int)fmax(own_lit.z - y0, 0.0f); r <= last; ++r) {
            const uint16 phase = columns[k][v] + turns[k][r];
            re_batch[r][v] = fma(weight, fixed_cosine(phase), re_batch[r][v]);
#if !REAL_ALONE
            im_batch[r][v] = fma(weight, fixed_cosine(phase - QUARTER_TURN), im_batch[r][v]);
#endif
          }
        }
      }
    }
    if ((base + GROUP_POINTS) % BATCH_POINTS != 0 && base + GROUP_POINTS < padded_count) continue;
    for (int r = 0; r < TILE_ROWS; ++r) {
      for (int v = 0; v < VECTORS; ++v) {
        re[r][v] += re_batch[r][v];
        re_batch[r][v] = 0.0f;
#if !REAL_ALONE
        im[r][v] += im_batch[r][v];
        im_batch[r][v] = 0.0f;
#endif
      }
    }
  }
  for (int r = 0; r < TILE_ROWS && row0 + r < rows; ++r) {
    for (int i = 0; i < TILE_COLUMNS && column0 + i < nx; ++i) {
      const float own_re = ((const float *)re[r])[i];
#if REAL_ALONE
      const float own_im = 0.0f;
#else
      const float own_im = ((const float *)im[r])[i];
#endif
      WRITE((long)(row0 + r) * nx + column0 + i, own_re, own_im)
    }
  }
}
