// Code of each pixel of a field by encode_math.h. Bound by memory: 8 bytes read and 1 or 2 written a pixel, twice read
// where the range is measured. An item takes PIXELS pixels of a row, GROUP apart. On a GPU neighbouring items thus read
// neighbouring pixels at every address, and all loads are on their way before the first code is written. On a CPU GROUP
// is 1: an item takes a run of pixels, whose loops become vector code.
// CODE: uchar or ushort. KIND: one of those below.
// Options: -DKIND=PHASE -DCODE=uchar -DGROUP=128 -DPIXELS=4
// Options: -DKIND=DOUBLE_PHASE -DCODE=uchar -DGROUP=1 -DPIXELS=256
// Options: -DKIND=REAL_PART -DCODE=ushort -DGROUP=1 -DPIXELS=256
// Options: -DKIND=CELLS -DCODE=ushort -DGROUP=128 -DPIXELS=4
#define PHASE 1
#define DOUBLE_PHASE 2
#define REAL_PART 3  // of the field in the reference beam
#define CELLS 4      // burckhardt
#if KIND != PHASE && KIND != DOUBLE_PHASE && KIND != REAL_PART && KIND != CELLS
#error "expected -DKIND=PHASE, DOUBLE_PHASE, REAL_PART or CELLS"
#endif
#include "holotone/core/array_opencl.cl"
#include "holotone/core/turns_math.h"
#include "holotone/hologram/encode_math.h"

typedef struct {
  float levels, low, high;
  int symmetric;
} Given;

typedef struct {
  float low, high;
} Range;

static Range read_range(Given given, ARRAY(const uint, peak)) {
  Range range = {given.low, given.high};
  if (peak_memory) {
    const float peak = as_float(*AT(peak));
    range.high = peak > 0.0f ? peak : 1.0f;
    range.low = given.symmetric ? -range.high : 0.0f;
  }
  return range;
}

static int first_column(void) { return (int)get_group_id(0) * GROUP * PIXELS + (int)get_local_id(0); }

// On a GPU an item has all its pixels: those beyond the row are its last.
static int item_column(int k, int nx) {
  const int column = first_column() + k * GROUP;
  return GROUP == 1 ? column : min(column, nx - 1);
}

static bool within(int k, int nx) { return GROUP == 1 || first_column() + k * GROUP < nx; }

#if GROUP == 1
#define EACH_PIXEL for (int k = 0; k < min(PIXELS, nx - first_column()); ++k)
#else  // so that the pixels are in registers
#define EACH_PIXEL _Pragma("unroll") for (int k = 0; k < PIXELS; ++k)
#endif

// By components: CPU compilers move a pixel that is read as a whole as one integer, and make no vectors of these.
typedef struct {
  float re[PIXELS];
  float im[PIXELS];
} Pixels;

static void load(const __global Complex32 *row, int nx, Pixels *pixels) {
  EACH_PIXEL {
    const int column = item_column(k, nx);
    pixels->re[k] = row[column].re;
    pixels->im[k] = row[column].im;
  }
}

static Complex32 pixel(const Pixels *pixels, int k) {
  const Complex32 u = {pixels->re[k], pixels->im[k]};
  return u;
}

#if KIND == PHASE || KIND == DOUBLE_PHASE
// steps {codes per turn, last code, threshold, buckets}: see PhaseLevels. odd: 1 if the first row is an odd row of the
// panel.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void phase_codes(
    float4 steps, Given given, int nx, int odd, ARRAY(const Complex32, field), ARRAY(CODE, codes),
    ARRAY(const float, boundary), ARRAY(const ushort, code), ARRAY(const int, bucket), ARRAY(const float, shift_column),
    ARRAY(const float, shift_row), ARRAY(const float, shift_map), ARRAY(const uint, peak)) {
  const int row = (int)get_global_id(1);
  const long begin = (long)row * nx;
  Pixels u;
  load(AT(field) + begin, nx, &u);
  float t[PIXELS];
#if KIND == DOUBLE_PHASE
  const float high = read_range(given, peak_memory, peak_first).high;
  EACH_PIXEL {
    t[k] = double_phase_turns(pixel(&u, k), high, checkerboard(row ^ item_column(k, nx) ^ odd));
  }
#else
  EACH_PIXEL t[k] = turns_of(pixel(&u, k));
#endif
  if (shift_column_memory) {
    const float of_row = AT(shift_row)[row];
    EACH_PIXEL t[k] = add_turns(t[k], add_turns(AT(shift_column)[item_column(k, nx)], of_row));
  }
  if (shift_map_memory) {
    EACH_PIXEL t[k] = add_turns(t[k], AT(shift_map)[begin + item_column(k, nx)]);
  }
  const PhaseLevels levels = {steps.x, steps.y, steps.z, steps.w, AT(boundary), AT(code), AT(bucket)};
  __global CODE *target = AT(codes) + begin;
  if (boundary_memory) {
    EACH_PIXEL {
      if (within(k, nx)) target[item_column(k, nx)] = (CODE)table_code(t[k], levels);
    }
  } else {
    EACH_PIXEL {
      if (within(k, nx)) target[item_column(k, nx)] = (CODE)equal_step_code(t[k], levels);
    }
  }
}
#endif

#define BEAMS ARRAY(const Complex32, beam_column), ARRAY(const Complex32, beam_row)
#define OF_BEAMS beam_column_memory, beam_column_first, beam_row_memory, beam_row_first

// The values that the range maps to codes; of phases the magnitudes.
static void amplitudes(const Pixels *u, int row, int nx, BEAMS, float *value) {
#if KIND == CELLS
  EACH_PIXEL value[k] = burckhardt_amplitude(pixel(u, k), item_column(k, nx));
#elif KIND == REAL_PART
  const Complex32 of_row = AT(beam_row)[row];
  Pixels of_column;
  load(AT(beam_column), nx, &of_column);
  EACH_PIXEL value[k] = beam_real_part(pixel(u, k), pixel(&of_column, k), of_row);
#else
  EACH_PIXEL value[k] = absolute(octant_of(pixel(u, k)));
#endif
}

#if KIND == REAL_PART || KIND == CELLS
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void amplitude_codes(
    Given given, int nx, ARRAY(const Complex32, field), ARRAY(CODE, codes), BEAMS, ARRAY(const uint, peak)) {
  const int row = (int)get_global_id(1);
  const long begin = (long)row * nx;
  Pixels u;
  load(AT(field) + begin, nx, &u);
  float value[PIXELS];
  amplitudes(&u, row, nx, OF_BEAMS, value);
  const Range range = read_range(given, peak_memory, peak_first);
  const AmplitudeRange map = amplitude_range(range.low, range.high, given.levels);
  EACH_PIXEL {
    if (within(k, nx)) AT(codes)[begin + item_column(k, nx)] = (CODE)amplitude_code(value[k], map);
  }
}
#endif

// An item takes every get_global_size(1)-th row.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void find_peak(int rows, int nx,
                                                                           ARRAY(const Complex32, field), BEAMS,
                                                                           ARRAY(uint, peak)) {
  __local uint largest;
  if (get_local_id(0) == 0) largest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint best = 0;
  for (int row = (int)get_global_id(1); row < rows; row += (int)get_global_size(1)) {
    Pixels u;
    load(AT(field) + (long)row * nx, nx, &u);
    float value[PIXELS];
    amplitudes(&u, row, nx, OF_BEAMS, value);
    EACH_PIXEL {
      const float a = magnitude(value[k]);
      const uint bits = a > 0.0f ? as_uint(a) : 0;  // 0 for NaN
      best = bits > best ? bits : best;
    }
  }
  atomic_max(&largest, best);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && largest != 0) atomic_max((volatile __global uint *)AT(peak), largest);
}

// Clears `count` bins of each row of a spectrum from `first` on.
__kernel void remove_bins(ARRAY(Complex32, spectrum), int nx, int first, int count) {
  const int i = (int)get_global_id(0);
  const Complex32 zero = {0.0f, 0.0f};
  if (i < count) AT(spectrum)[(long)get_global_id(1) * nx + first + i] = zero;
}
