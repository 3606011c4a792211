// Code of each pixel of a field by encode_math.h. Bound by memory: 8 bytes read and 1 or 2 written a pixel, twice read
// where the range is measured. Pixels of an item lie a group's width apart: neighbouring items read neighbouring
// pixels, with the same instructions at every address.
// CODE: uchar or ushort.
#include "holotone/core/array_opencl.cl"
#include "holotone/optics/turns_math.h"
#include "holotone/hologram/encode_math.h"

#ifndef CODE
#define CODE uchar
#endif
#define GROUP 64
#define PIXELS 4

typedef struct {
  float levels, low, high;
  int symmetric;
} Given;

typedef struct {
  float low, high;
} Range;

static Range range_of(Given given, ARRAY(const uint, peak)) {
  Range range = {given.low, given.high};
  if (peak_memory) {
    const float peak = as_float(*AT(peak));
    range.high = peak > 0.0f ? peak : 1.0f;
    range.low = given.symmetric ? -range.high : 0.0f;
  }
  return range;
}

// Column of an item's pixel k.
static int column_of(int k) { return ((int)get_group_id(0) * PIXELS + k) * GROUP + (int)get_local_id(0); }

// steps {codes per turn, last code, threshold, buckets}: see PhaseLevels. odd: 1 if the first row is an odd row of the
// panel.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void phase_codes(
    float4 steps, Given given, int doubled, int nx, int odd, ARRAY(const Complex32, field), ARRAY(CODE, codes),
    ARRAY(const float, boundary), ARRAY(const ushort, code), ARRAY(const int, bucket), ARRAY(const float, shift_column),
    ARRAY(const float, shift_row), ARRAY(const float, shift_map), ARRAY(const uint, peak)) {
  const int row = (int)get_global_id(1);
  const long begin = (long)row * nx;
  const PhaseLevels levels = {steps.x, steps.y, steps.z, steps.w, AT(boundary), AT(code), AT(bucket)};
  const float high = range_of(given, peak_memory, peak_first).high;
  for (int k = 0; k < PIXELS; ++k) {
    const int column = column_of(k);
    if (column >= nx) return;
    const Complex32 u = AT(field)[begin + column];
    float t = doubled ? double_phase_turns(u, high, checkerboard(row ^ column ^ odd)) : turns_of(u);
    if (shift_column_memory) t = add_turns(t, add_turns(AT(shift_column)[column], AT(shift_row)[row]));
    if (shift_map_memory) t = add_turns(t, AT(shift_map)[begin + column]);
    AT(codes)[begin + column] = (CODE)(boundary_memory ? table_code(t, levels) : equal_step_code(t, levels));
  }
}

#define BEAMS ARRAY(const Complex32, beam_column), ARRAY(const Complex32, beam_row)
#define OF_BEAMS beam_column_memory, beam_column_first, beam_row_memory, beam_row_first

// The value that the range maps to codes; burckhardt has no beams.
static float amplitude_of(Complex32 u, int row, int column, BEAMS) {
  if (!beam_column_memory) return burckhardt_amplitude(u, column);
  return beam_real_part(u, AT(beam_column)[column], AT(beam_row)[row]);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void amplitude_codes(
    Given given, int nx, ARRAY(const Complex32, field), ARRAY(CODE, codes), BEAMS, ARRAY(const uint, peak)) {
  const int row = (int)get_global_id(1);
  const long begin = (long)row * nx;
  const Range range = range_of(given, peak_memory, peak_first);
  const AmplitudeRange map = amplitude_range(range.low, range.high, given.levels);
  for (int k = 0; k < PIXELS; ++k) {
    const int column = column_of(k);
    if (column >= nx) return;
    const float v = amplitude_of(AT(field)[begin + column], row, column, OF_BEAMS);
    AT(codes)[begin + column] = (CODE)amplitude_code(v, map);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void find_peak(int doubled, int rows, int nx,
                                                                           ARRAY(const Complex32, field), BEAMS,
                                                                           ARRAY(uint, peak)) {
  __local uint largest;
  if (get_local_id(0) == 0) largest = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int column = (int)get_global_id(0);
  float best = 0.0f;
  if (column < nx) {
    for (int row = (int)get_global_id(1); row < rows; row += (int)get_global_size(1)) {
      const Complex32 u = AT(field)[(long)row * nx + column];
      const float a = doubled ? absolute(octant_of(u)) : magnitude(amplitude_of(u, row, column, OF_BEAMS));
      best = a > best ? a : best;
    }
  }
  atomic_max(&largest, as_uint(best));
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && largest != 0) atomic_max((volatile __global uint *)AT(peak), largest);
}

// Clears `count` bins of each row of a spectrum from `first` on.
__kernel void remove_bins(ARRAY(Complex32, spectrum), int nx, int first, int count) {
  const int i = (int)get_global_id(0);
  const Complex32 zero = {0.0f, 0.0f};
  if (i < count) AT(spectrum)[(long)get_global_id(1) * nx + first + i] = zero;
}
