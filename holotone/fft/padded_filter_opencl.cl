// Lines of zero-padded arrays: FFT, product with a transfer function, FFT back (padded_filter_opencl.cpp).
//
// A padded line has L = 2 M values, of which only the first N <= M are not zero before the forward transform or wanted
// after the inverse one. Both are therefore two transforms of M values, of the even (h = 0) and odd frequencies:
//   X[2 k + h] = sum_n (x[n] w^(n h)) exp(-2 pi i n k / M),  w = exp(-2 pi i / L),
// and back likewise. A group transforms a line in registers and local memory, by Stockham's steps of one radix each.
// The last step leaves frequencies with the items that begin the way back, so that a column takes forward transform,
// product and inverse without a visit to memory.
//
// Between the passes the spectra of the rows lie in strips of STRIP columns: row after row, STRIP values of each.
// Column c of the spectrum has frequency 2 (c mod M) + c / M. Four values fill a sector of memory.
//
// Memory is the floor: each of three passes reads and writes once. On the H200 columns are bound by arithmetic and by
// the registers of an item.
//
// Numbers of a program, for one axis:
//   HALF     M
//   RADIX_1 to RADIX_6  radices of the steps, 1 after the last; BACK_1 to BACK_6: the same from the last one on
//   ITEMS    items of a group
//   VALUES   values of an item
//   PARTS    1: values change places whole, 2: in two parts
//   STRIP    columns of a strip
//
// Options: -DROWS=1 -DHALF=4096 -DRADIX_1=16 -DRADIX_2=16 -DRADIX_3=16 -DRADIX_4=1 -DRADIX_5=1 -DRADIX_6=1 -DBACK_1=16 -DBACK_2=16 -DBACK_3=16 -DBACK_4=1 -DBACK_5=1 -DBACK_6=1 -DITEMS=256 -DVALUES=16 -DPARTS=2 -DSTRIP=4
// Options: -DROWS=0 -DHALF=1080 -DRADIX_1=12 -DRADIX_2=10 -DRADIX_3=9 -DRADIX_4=1 -DRADIX_5=1 -DRADIX_6=1 -DBACK_1=9 -DBACK_2=10 -DBACK_3=12 -DBACK_4=1 -DBACK_5=1 -DBACK_6=1 -DITEMS=120 -DVALUES=12 -DPARTS=1 -DSTRIP=4
#include "holotone/core/array_opencl.cl"
#include "holotone/core/turns_opencl.cl"

// Place in local memory: items a power of two apart reach different banks.
#define PLACE(i) ((i) ^ ((i) >> 5 & 15) ^ ((i) >> 4 & 16))
#define ROOM ((HALF + 511) / 512 * 512)
#define BUTTERFLIES(radix) ((HALF / (radix) + ITEMS - 1) / ITEMS)

// exp(-2 pi i k / radix)
__constant float2 roots_of_6[] = {{1.0f, 0.0f}, {0.5f, -0.866025404f}, {-0.5f, -0.866025404f}};
__constant float2 roots_of_8[] = {
    {1.0f, 0.0f}, {0.707106781f, -0.707106781f}, {0.0f, -1.0f}, {-0.707106781f, -0.707106781f}};
__constant float2 roots_of_9[] = {{1.0f, 0.0f},
                                  {0.766044443f, -0.64278761f},
                                  {0.173648178f, -0.984807753f},
                                  {-0.5f, -0.866025404f},
                                  {-0.939692621f, -0.342020143f}};
__constant float2 roots_of_10[] = {{1.0f, 0.0f},
                                   {0.809016994f, -0.587785252f},
                                   {0.309016994f, -0.951056516f},
                                   {-0.309016994f, -0.951056516f},
                                   {-0.809016994f, -0.587785252f}};
__constant float2 roots_of_12[] = {{1.0f, 0.0f},           {0.866025404f, -0.5f},  {0.5f, -0.866025404f}, {0.0f, -1.0f},
                                   {-0.5f, -0.866025404f}, {-0.866025404f, -0.5f}, {-1.0f, 0.0f}};
__constant float2 roots_of_14[] = {{1.0f, 0.0f},
                                   {0.900968868f, -0.433883739f},
                                   {0.623489802f, -0.781831482f},
                                   {0.222520934f, -0.974927912f},
                                   {-0.222520934f, -0.974927912f},
                                   {-0.623489802f, -0.781831482f},
                                   {-0.900968868f, -0.433883739f}};
__constant float2 roots_of_15[] = {{1.0f, 0.0f},
                                   {0.913545458f, -0.406736643f},
                                   {0.669130606f, -0.743144825f},
                                   {0.309016994f, -0.951056516f},
                                   {-0.104528463f, -0.994521895f},
                                   {-0.5f, -0.866025404f},
                                   {-0.809016994f, -0.587785252f},
                                   {-0.978147601f, -0.207911691f},
                                   {-0.978147601f, 0.207911691f}};
__constant float2 roots_of_16[] = {
    {1.0f, 0.0f},  {0.923879533f, -0.382683432f},  {0.707106781f, -0.707106781f},  {0.382683432f, -0.923879533f},
    {0.0f, -1.0f}, {-0.382683432f, -0.923879533f}, {-0.707106781f, -0.707106781f}, {-0.923879533f, -0.382683432f},
    {-1.0f, 0.0f}, {-0.923879533f, 0.382683432f}};

static float2 turned(float2 a) { return (float2)(a.y, -a.x); }  // -i a
static float2 swapped(float2 a) { return (float2)(a.y, a.x); }

// Transforms of few values at distance d.
static void transform2(float2 *v, int d) {
  const float2 sum = v[0] + v[d];
  v[d] = v[0] - v[d];
  v[0] = sum;
}

static void transform3(float2 *v, int d) {
  const float2 sum = v[d] + v[2 * d];
  const float2 odd = turned(v[d] - v[2 * d]) * 0.866025404f;
  const float2 even = v[0] - 0.5f * sum;
  v[0] += sum;
  v[d] = even + odd;
  v[2 * d] = even - odd;
}

static void transform4(float2 *v, int d) {
  const float2 a = v[0] + v[2 * d];
  const float2 b = v[0] - v[2 * d];
  const float2 c = v[d] + v[3 * d];
  const float2 e = turned(v[d] - v[3 * d]);
  v[0] = a + c;
  v[d] = b + e;
  v[2 * d] = a - c;
  v[3 * d] = b - e;
}

static void transform5(float2 *v, int d) {
  const float2 sum1 = v[d] + v[4 * d];
  const float2 sum2 = v[2 * d] + v[3 * d];
  const float2 difference1 = turned(v[d] - v[4 * d]);
  const float2 difference2 = turned(v[2 * d] - v[3 * d]);
  const float2 even1 = v[0] + 0.309016994f * sum1 - 0.809016994f * sum2;
  const float2 even2 = v[0] - 0.809016994f * sum1 + 0.309016994f * sum2;
  const float2 odd1 = 0.951056516f * difference1 + 0.587785252f * difference2;
  const float2 odd2 = 0.587785252f * difference1 - 0.951056516f * difference2;
  v[0] += sum1 + sum2;
  v[d] = even1 + odd1;
  v[4 * d] = even1 - odd1;
  v[2 * d] = even2 + odd2;
  v[3 * d] = even2 - odd2;
}

static void transform7(float2 *v, int d) {
  const float2 sum1 = v[d] + v[6 * d];
  const float2 sum2 = v[2 * d] + v[5 * d];
  const float2 sum3 = v[3 * d] + v[4 * d];
  const float2 difference1 = turned(v[d] - v[6 * d]);
  const float2 difference2 = turned(v[2 * d] - v[5 * d]);
  const float2 difference3 = turned(v[3 * d] - v[4 * d]);
  const float2 even1 = v[0] + 0.623489802f * sum1 - 0.222520934f * sum2 - 0.900968868f * sum3;
  const float2 even2 = v[0] - 0.222520934f * sum1 - 0.900968868f * sum2 + 0.623489802f * sum3;
  const float2 even3 = v[0] - 0.900968868f * sum1 + 0.623489802f * sum2 - 0.222520934f * sum3;
  const float2 odd1 = 0.781831482f * difference1 + 0.974927912f * difference2 + 0.433883739f * difference3;
  const float2 odd2 = 0.974927912f * difference1 - 0.433883739f * difference2 - 0.781831482f * difference3;
  const float2 odd3 = 0.433883739f * difference1 - 0.781831482f * difference2 + 0.974927912f * difference3;
  v[0] += sum1 + sum2 + sum3;
  v[d] = even1 + odd1;
  v[6 * d] = even1 - odd1;
  v[2 * d] = even2 + odd2;
  v[5 * d] = even2 - odd2;
  v[3 * d] = even3 + odd3;
  v[4 * d] = even3 - odd3;
}

// A transform of A B values: B of A values, factors, A of B values (Cooley and Tukey 1965).
#define COMPOSITE(RADIX, A, B)                                                                     \
  static void transform##RADIX(float2 *v) {                                                        \
    _Pragma("unroll") for (int b = 0; b < B; ++b) transform##A(v + b, B);                          \
    _Pragma("unroll") for (int a = 1; a < A; ++a) {                                                \
      _Pragma("unroll") for (int b = 1; b < B; ++b) v[B * a + b] = product(v[B * a + b], roots_of_##RADIX[a * b]); \
    }                                                                                              \
    _Pragma("unroll") for (int a = 0; a < A; ++a) transform##B(v + B * a, 1);                      \
    float2 ordered[RADIX];                                                                         \
    _Pragma("unroll") for (int a = 0; a < A; ++a) {                                                \
      _Pragma("unroll") for (int b = 0; b < B; ++b) ordered[a + A * b] = v[B * a + b];             \
    }                                                                                              \
    _Pragma("unroll") for (int i = 0; i < RADIX; ++i) v[i] = ordered[i];                           \
  }
COMPOSITE(6, 2, 3)
COMPOSITE(8, 2, 4)
COMPOSITE(9, 3, 3)
COMPOSITE(10, 2, 5)
COMPOSITE(12, 3, 4)
COMPOSITE(14, 2, 7)
COMPOSITE(15, 3, 5)
COMPOSITE(16, 4, 4)

static void transform(float2 *v, int radix) {
  switch (radix) {
    case 2: transform2(v, 1); break;
    case 3: transform3(v, 1); break;
    case 4: transform4(v, 1); break;
    case 5: transform5(v, 1); break;
    case 6: transform6(v); break;
    case 7: transform7(v, 1); break;
    case 8: transform8(v); break;
    case 9: transform9(v); break;
    case 10: transform10(v); break;
    case 12: transform12(v); break;
    case 14: transform14(v); break;
    case 15: transform15(v); break;
    case 16: transform16(v); break;
  }
}

// v[r] w^r. Powers are products of few factors, so that errors do not add up; four at a time, to spare registers.
static void multiply_powers(float2 *v, float2 w, int radix) {
  const float2 low[4] = {w, w, product(w, w), product(product(w, w), w)};
  const float2 fourth = product(low[2], low[2]);
  float2 high = fourth;
#pragma unroll
  for (int r = 1; r < radix; ++r) {
    if (r > 4 && r % 4 == 0) high = product(high, fourth);
    v[r] = product(v[r], r < 4 ? low[r] : r % 4 == 0 ? high : product(high, low[r % 4]));
  }
}

// A step: transforms of values that lie HALF / radix apart. Stride is the product of the radices before.
static void step_of(float2 *v, int t, int radix, int stride, __global const float2 *roots) {
#pragma unroll
  for (int b = 0; b < BUTTERFLIES(radix); ++b) {
    const int j = t + b * ITEMS;
    if (HALF / radix % ITEMS != 0 && j >= HALF / radix) break;
    if (stride > 1) multiply_powers(v + b * radix, roots[j % stride * (2 * HALF / (stride * radix))], radix);
    transform(v + b * radix, radix);
  }
}

// Values change places for a step of the radix `next`; PARTS 2 takes real parts, then imaginary ones, to spare local
// memory.
#if PARTS == 1
typedef float2 Part;
#define PART_OF(value, part) (value)
#define SET_PART(value, part, new) value = new
#else
typedef float Part;
#define PART_OF(value, part) ((part) == 0 ? (value).x : (value).y)
#define SET_PART(value, part, new) \
  if ((part) == 0) {               \
    (value).x = new;               \
  } else {                         \
    (value).y = new;               \
  }
#endif
static void exchange(float2 *v, __local Part *line, int t, int radix, int stride, int next) {
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int b = 0; b < BUTTERFLIES(radix); ++b) {
      const int j = t + b * ITEMS;
      if (HALF / radix % ITEMS != 0 && j >= HALF / radix) break;
      const int first = j / stride * (stride * radix) + j % stride;
#pragma unroll
      for (int r = 0; r < radix; ++r) line[PLACE(first + r * stride)] = PART_OF(v[b * radix + r], part);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int b = 0; b < BUTTERFLIES(next); ++b) {
      const int j = t + b * ITEMS;
      if (HALF / next % ITEMS != 0 && j >= HALF / next) break;
#pragma unroll
      for (int r = 0; r < next; ++r) {
        SET_PART(v[b * next + r], part, line[PLACE(j + r * (HALF / next))]);
      }
    }
  }
}

// A step after an exchange, where the plan has one.
#define NEXT_STEP(radix, stride, next)                    \
  if ((next) > 1) {                                       \
    exchange(v, line, t, radix, stride, next);            \
    step_of(v, t, next, (stride) * (radix), roots);       \
  }

// Transforms a line from values at t + HALF / a to frequencies at t + HALF / (last radix).
static void transform_line(float2 *v, __local Part *line, int t, __global const float2 *roots, int a, int b, int c,
                           int d, int e, int f) {
  step_of(v, t, a, 1, roots);
  NEXT_STEP(a, 1, b)
  NEXT_STEP(b, a, c)
  NEXT_STEP(c, a * b, d)
  NEXT_STEP(d, a * b * c, e)
  NEXT_STEP(e, a * b * c * d, f)
}
#define TRANSFORM transform_line(v, line, t, roots, RADIX_1, RADIX_2, RADIX_3, RADIX_4, RADIX_5, RADIX_6)
#define TRANSFORM_BACK transform_line(v, line, t, roots, BACK_1, BACK_2, BACK_3, BACK_4, BACK_5, BACK_6)

// Every value i of an item, at place n of the line, before or after a step of the radix.
#define FOR_VALUES(radix)                                                                            \
  _Pragma("unroll") for (int i = 0; i < BUTTERFLIES(radix) * (radix); ++i)                           \
      for (int n = t + i / (radix) * ITEMS + i % (radix) * (HALF / (radix)), once = 1;               \
           once && (HALF / (radix) % ITEMS == 0 || t + i / (radix) * ITEMS < HALF / (radix)); once = 0)

// A line kept besides: an item's values in the order of its registers.
#define KEPT_LINE __local float2 kept[VALUES * ITEMS];
#define KEPT(i) kept[(i) * ITEMS + t]

#define GROUP_OF_A_LINE __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
// PoCL 3.1 lets its threads share an array that a function gets as it is: `line` is a computed address.
#define LINE_MEMORY                                     \
  const int t = (int)get_local_id(0);                   \
  __local Part memory_of_line[ROOM];                    \
  __local Part *const line = memory_of_line + get_local_id(1); \
  __global const float2 *const roots = AT(roots_of_line); \
  float2 v[VALUES];
#define IN_STRIPS(column, row) (((long)((column) / STRIP) * ny + (row)) * STRIP + (column) % STRIP)

#if ROWS
// Spectra of rows, into strips.
__kernel GROUP_OF_A_LINE void rows_forward(ARRAY(const float2, input), ARRAY(float2, strips),
                                           ARRAY(const float2, roots_of_line), int ny, int nx) {
  LINE_MEMORY
  const int row = (int)get_group_id(0);
  __global const float2 *const source = AT(input) + (long)row * nx;
#pragma unroll 1
  for (int h = 0; h < 2; ++h) {
    FOR_VALUES(RADIX_1) {
      v[i] = n < nx ? source[n] : (float2)(0.0f, 0.0f);
      if (h) v[i] = product(v[i], roots[n]);
    }
    TRANSFORM;
    FOR_VALUES(BACK_1) AT(strips)[IN_STRIPS(h * HALF + n, row)] = v[i];
  }
}

// Rows from their spectra: the field, or its squared modulus where there is no field.
__kernel GROUP_OF_A_LINE void rows_back(ARRAY(const float2, strips), ARRAY(float2, field), ARRAY(float, intensity),
                                        ARRAY(const float2, roots_of_line), int ny, int nx) {
  LINE_MEMORY
  KEPT_LINE
  const int row = (int)get_group_id(0);
#pragma unroll 1
  for (int h = 0; h < 2; ++h) {
    FOR_VALUES(BACK_1) v[i] = swapped(AT(strips)[IN_STRIPS(h * HALF + n, row)]);
    TRANSFORM_BACK;
    if (h == 0) {
#pragma unroll
      for (int i = 0; i < VALUES; ++i) KEPT(i) = v[i];
    }
  }
  FOR_VALUES(RADIX_1) {
    if (n < nx) {
      const float2 value = swapped(KEPT(i) + product(v[i], roots[n]));
      const long at = (long)row * nx + n;
      if (field_memory) {
        AT(field)[at] = value;
      } else {
        AT(intensity)[at] = value.x * value.x + value.y * value.y;
      }
    }
  }
}
#else
// Columns there, times the transfer function, and back; source and target may be the same. The function is even:
// `transfer` has a row of 2 (M / 2 + 1) values for each frequency along x from 0 to lx / 2, even frequencies along y
// first, then odd ones.
__kernel GROUP_OF_A_LINE void columns(ARRAY(const float2, source), ARRAY(float2, target),
                                      ARRAY(const float2, transfer), ARRAY(const float2, roots_of_line), int ny,
                                      int lx) {
  LINE_MEMORY
  KEPT_LINE
  // Strips of opposite frequencies follow each other, for they read the same rows of the transfer function. The last
  // strip may have columns beyond the array: nobody reads them.
  const int half_x = lx / 2;
  const int group = (int)get_group_id(0);
  const int begin = group < half_x / STRIP * STRIP ? 0 : half_x / STRIP;
  const int end = begin == 0 ? half_x / STRIP : (lx + STRIP - 1) / STRIP;
  const int turn = group / STRIP - begin;
  const int column = (turn % 2 ? end - 1 - turn / 2 : begin + turn / 2) * STRIP + group % STRIP;
  const int frequency = 2 * (column % half_x) + column / half_x;
  __global const float2 *const factors =
      AT(transfer) + (long)min(frequency, lx - frequency) * (2 * (HALF / 2 + 1));
  __global const float2 *const values = AT(source) + IN_STRIPS(column, 0);
  __global float2 *const results = AT(target) + IN_STRIPS(column, 0);

  FOR_VALUES(RADIX_1) v[i] = n < ny ? values[n * STRIP] : (float2)(0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < VALUES; ++i) KEPT(i) = v[i];
#pragma unroll 1
  for (int h = 0; h < 2; ++h) {
    TRANSFORM;
    FOR_VALUES(BACK_1) v[i] = swapped(product(v[i], factors[h * (HALF / 2 + 1) + min(n, HALF - h - n)]));
    TRANSFORM_BACK;
    if (h == 0) {
      FOR_VALUES(RADIX_1) {
        const float2 input = KEPT(i);
        KEPT(i) = v[i];
        v[i] = product(input, roots[n]);
      }
    }
  }
  FOR_VALUES(RADIX_1) {
    if (n < ny) results[n * STRIP] = swapped(KEPT(i) + product(v[i], roots[n]));
  }
}
#endif
