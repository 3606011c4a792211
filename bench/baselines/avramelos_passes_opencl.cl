// The decoder of Avramelos et al. 2020 (6.3): an item a pixel, groups of 16 x 8, the components of a pass in 256 floats
// of local memory. Each pixel inverts each component's matrix again, as the paper has it: arithmetic bounds it, with 40
// to 400 operations a pair of pixel and component for 18 or 33 floats that a group reads once a pass. Without local
// memory each item reads them through the caches. Twin of avramelos_component.hpp and avramelos_matrices.hpp.
// D: dimensions, 2 or 4. LOCAL: components in local memory. ACCURATE: Cholesky's factor, QR and the functions of full
// precision; else the inverse in closed form, with native functions.
// Options: -DD=2 -DLOCAL=1 -DACCURATE=0
// Options: -DD=2 -DLOCAL=0 -DACCURATE=1
// Options: -DD=4 -DLOCAL=1 -DACCURATE=1
// Options: -DD=4 -DLOCAL=0 -DACCURATE=0
#include "holotone/core/array_opencl.cl"

#define COLUMNS 16
#define ROWS 8
#define SHARED_FLOATS 256

// Places of a component's floats (ComponentLayout).
#define CENTRE 1
#define COLOUR (CENTRE + D)
#define COVARIANCE (COLOUR + 3)
#define CROSS (COVARIANCE + D * (D + 1) / 2)
#define SIZE (CROSS + 3 * D + 3)

#if D == 2
#define IN_PASS 11
#define LOAD vload2
typedef float2 vector;
#else
#define IN_PASS (SHARED_FLOATS / SIZE)
#define LOAD vload4
typedef float4 vector;
#endif

#if LOCAL
#define RECORD __local const float
#else
#define RECORD __global const float
#endif

#if ACCURATE

#define EXP exp
#define LOG log

// Solves r x = b by Householder's reflections without pivots; r becomes the upper triangle, b becomes x.
static void solve_qr(float r[D][D], float *b) {
#pragma unroll
  for (int k = 0; k + 1 < D; ++k) {
    float v[D];
    float square = 0.0f;
    for (int row = k; row < D; ++row) {
      v[row] = r[row][k];
      square += v[row] * v[row];
    }
    v[k] += r[k][k] < 0.0f ? -sqrt(square) : sqrt(square);
    float difference = 0.0f;
    for (int row = k; row < D; ++row) difference += v[row] * v[row];
    const float length = sqrt(difference);
    for (int row = k; row < D; ++row) v[row] /= length;
    for (int column = k; column < D; ++column) {
      float along = 0.0f;
      for (int row = k; row < D; ++row) along += v[row] * r[row][column];
      for (int row = k; row < D; ++row) r[row][column] -= 2.0f * along * v[row];
    }
    float along = 0.0f;
    for (int row = k; row < D; ++row) along += v[row] * b[row];
    for (int row = k; row < D; ++row) b[row] -= 2.0f * along * v[row];
  }
#pragma unroll
  for (int row = D - 1; row >= 0; --row) {
    for (int k = row + 1; k < D; ++k) b[row] -= r[row][k] * b[k];
    b[row] /= r[row][row];
  }
}

// r^-1 away, away^T r^-1 away by r = L L^T (Eq. 12), and the determinant of r.
static vector solve(RECORD *triangle, vector away, float *square, float *determinant) {
  float r[D][D];
  float l[D][D];
  *determinant = 1.0f;
#pragma unroll
  for (int row = 0; row < D; ++row) {
    for (int column = 0; column <= row; ++column) {
      r[row][column] = r[column][row] = triangle[row * (row + 1) / 2 + column];
      float rest = r[row][column];
      for (int k = 0; k < column; ++k) rest -= l[row][k] * l[column][k];
      l[row][column] = row == column ? sqrt(rest) : rest / l[column][column];
      if (row != column) l[column][row] = 0.0f;
    }
    *determinant *= l[row][row] * l[row][row];
  }
  float turned[D];
  float solved[D];
#if D == 2
  vstore2(away, 0, turned);
  vstore2(away, 0, solved);
#else
  vstore4(away, 0, turned);
  vstore4(away, 0, solved);
#endif
  solve_qr(l, turned);
  solve_qr(r, solved);
  *square = dot(LOAD(0, turned), LOAD(0, turned));
  return LOAD(0, solved);
}

#else

#define EXP native_exp
#define LOG native_log

// r^-1 away by the adjugate, away^T r^-1 away, and the determinant of r.
static vector solve(RECORD *triangle, vector away, float *square, float *determinant) {
#if D == 2
  const float xx = triangle[0];
  const float yx = triangle[1];
  const float yy = triangle[2];
  *determinant = xx * yy - yx * yx;
  const vector solved = (vector)(yy * away.x - yx * away.y, xx * away.y - yx * away.x) * (1.0f / *determinant);
#else
  const float a00 = triangle[0];
  const float a10 = triangle[1], a11 = triangle[2];
  const float a20 = triangle[3], a21 = triangle[4], a22 = triangle[5];
  const float a30 = triangle[6], a31 = triangle[7], a32 = triangle[8], a33 = triangle[9];
  // Minors of the upper two rows, of the lower two, and of both in the middle.
  const float s0 = a00 * a11 - a10 * a10, s1 = a00 * a21 - a10 * a20, s2 = a00 * a31 - a10 * a30;
  const float s3 = a10 * a21 - a11 * a20, s4 = a10 * a31 - a11 * a30, s5 = a20 * a31 - a21 * a30;
  const float c1 = a20 * a32 - a30 * a22, c2 = a20 * a33 - a30 * a32, c3 = a21 * a32 - a31 * a22;
  const float c4 = a21 * a33 - a31 * a32, c5 = a22 * a33 - a32 * a32;
  const float b01 = a20 * c4 - a10 * c5 - a30 * c3;
  const float b02 = a31 * s5 - a32 * s4 + a33 * s3;
  const float b03 = a22 * s4 - a21 * s5 - a32 * s3;
  const float b12 = a32 * s2 - a30 * s5 - a33 * s1;
  const float b13 = a20 * s5 - a22 * s2 + a32 * s1;
  const float b23 = a21 * s2 - a20 * s4 - a32 * s0;
  const vector b0 = (vector)(a11 * c5 - a21 * c4 + a31 * c3, b01, b02, b03);
  const vector b1 = (vector)(b01, a00 * c5 - a20 * c2 + a30 * c1, b12, b13);
  const vector b2 = (vector)(b02, b12, a30 * s4 - a31 * s2 + a33 * s0, b23);
  const vector b3 = (vector)(b03, b13, b23, a20 * s3 - a21 * s1 + a22 * s0);
  *determinant = dot((vector)(a00, a10, a20, a30), b0);
  const vector solved = (vector)(dot(b0, away), dot(b1, away), dot(b2, away), dot(b3, away)) * (1.0f / *determinant);
#endif
  *square = dot(away, solved);
  return solved;
}

#endif

// Adds the component with these floats at x: the weighted colours in xyz, the weight in w (Eqs. 8 and 9).
static float4 add_component(RECORD *component, vector x, float4 sums) {
  float square;
  float determinant;
  const vector solved = solve(component + COVARIANCE, x - LOAD(0, component + CENTRE), &square, &determinant);
  const float weight = EXP(component[0] - 0.5f * (square + LOG(determinant)));
  const float4 expert = (float4)(component[COLOUR] + dot(LOAD(0, component + CROSS), solved),
                                 component[COLOUR + 1] + dot(LOAD(0, component + CROSS + D), solved),
                                 component[COLOUR + 2] + dot(LOAD(0, component + CROSS + 2 * D), solved), 1.0f);
  return sums + weight * expert;
}

// `area`: left, top, width, height in the picture, in pixels; `domain`: the first column and row of this enqueue in the
// area. Items beyond the area pad the last blocks; each group lies in one block.
__kernel __attribute__((reqd_work_group_size(COLUMNS, ROWS, 1))) void avramelos(
    ARRAY(const float, model), ARRAY(const int, first), ARRAY(const int, component), ARRAY(float, image), int4 area,
    int2 domain, int side, int blocks_across) {
  const int column = domain.x + (int)get_global_id(0);
  const int row = domain.y + (int)get_global_id(1);
  const int block = row / side * blocks_across + column / side;
  const float left = (float)(area.x + column) + 0.5f;
  const float top = (float)(area.y + row) + 0.5f;
#if D == 2
  const vector x = (vector)(left, top);
#else
  const vector x = (vector)(left, top, 0.0f, 0.0f);
#endif
  float4 sums = (float4)(0.0f);
  const int end = AT(first)[block + 1];
#if LOCAL
  __local float batch[SHARED_FLOATS];
  const int item = (int)(get_local_id(1) * COLUMNS + get_local_id(0));
  for (int begin = AT(first)[block]; begin < end; begin += IN_PASS) {
    const int count = min(IN_PASS, end - begin);
    for (int i = item; i < count * SIZE; i += COLUMNS * ROWS) {
      batch[i] = AT(model)[(long)AT(component)[begin + i / SIZE] * SIZE + i % SIZE];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < count; ++k) sums = add_component(batch + k * SIZE, x, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#else
  for (int i = AT(first)[block]; i < end; ++i) {
    sums = add_component(AT(model) + (long)AT(component)[i] * SIZE, x, sums);
  }
#endif
  if (column >= area.z || row >= area.w) return;
  vstore3(sums.w > 0.0f ? sums.xyz / sums.w : (float3)(0.0f), (size_t)row * area.z + column, AT(image));
}
