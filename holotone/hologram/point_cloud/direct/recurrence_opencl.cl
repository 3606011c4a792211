// Shimobaba et al. 2010, Eq. (2), in fixed point: phases are turns times 2^32 in unsigned integers, whose overflow
// drops whole turns. An item computes a run of pixels along a row; each step is two additions. The errors are those of
// recurrence_cuda.cu.
// Options: -DREAL_ALONE=0 -DNATIVE=1
// Options: -DREAL_ALONE=1 -DNATIVE=0
#include "holotone/hologram/point_cloud/direct/sum_opencl.cl"

#define RUN_PIXELS 16
#define GROUP_ROWS 8
#define GROUP_RUNS 16
#define GROUP_ITEMS (GROUP_ROWS * GROUP_RUNS)
#define BATCH_POINTS 64

// Data of a point for an item; the row's part of the phase is stored once for each row of the group.
typedef struct {
  float a_high;
  float a_low;
  float x_whole;
  float x_rest;
  float amplitude;
  float first;
  float last;
  uint second_difference;  // Delta = 2 a
} PointStart;

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void recurrence_sum(
    ARRAY(const float4, position), ARRAY(const float4, wave), ARRAY(const float4, lit), long padded_count, int nx,
    int first_row, int rows, float2 slope_per_a, float per_limit, OUTPUT) {
  __local PointStart point[BATCH_POINTS];
  __local float row_turns[BATCH_POINTS][GROUP_ROWS];
  __local float row_lit[BATCH_POINTS][GROUP_ROWS];
  const int item = (int)get_local_id(0);
  const int local_row = item / GROUP_RUNS;
  const int column0 = ((int)get_group_id(0) * GROUP_RUNS + item % GROUP_RUNS) * RUN_PIXELS;
  const int row0 = (int)get_group_id(1) * GROUP_ROWS;  // relative to the part
  const float x0 = (float)column0;
  float re[RUN_PIXELS], re_lost[RUN_PIXELS], im[RUN_PIXELS], im_lost[RUN_PIXELS];
  for (int n = 0; n < RUN_PIXELS; ++n) re[n] = re_lost[n] = im[n] = im_lost[n] = 0.0f;
  for (long base = 0; base < padded_count; base += BATCH_POINTS) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < BATCH_POINTS * GROUP_ROWS; i += GROUP_ITEMS) {
      const int p = i / GROUP_ROWS;
      const int r = i % GROUP_ROWS;
      const float4 own_position = AT(position)[base + p];
      const float4 own_wave = AT(wave)[base + p];
      const float4 own_lit = AT(lit)[base + p];
      const float row = (float)(first_row + row0 + r);
      row_turns[p][r] = reduced_turns(row, own_position.z, own_position.w, own_wave.x, own_wave.y) + own_wave.w;
      row_lit[p][r] = row >= own_lit.z && row <= own_lit.w ? 1.0f : 0.0f;
      if (r == 0) {
        const PointStart start = {own_wave.x, own_wave.y, own_position.x, own_position.y, own_wave.z, own_lit.x,
                                  own_lit.y, two_fixed(2.0f * own_wave.xy)};
        point[p] = start;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float re_batch[RUN_PIXELS], im_batch[RUN_PIXELS];
    for (int n = 0; n < RUN_PIXELS; ++n) re_batch[n] = im_batch[n] = 0.0f;
    for (int p = 0; p < BATCH_POINTS; ++p) {
      const PointStart start = point[p];
      const two a = (two)(start.a_high, start.a_low);
      const two u = two_of_sum(x0 - start.x_whole, -start.x_rest);
      const float anchor =
          reduced_turns(x0, start.x_whole, start.x_rest, start.a_high, start.a_low) + row_turns[p][local_row];
      uint gamma = two_fixed((two)(anchor, 0.0f));
      uint delta = two_fixed(two_multiply(a, two_add(2.0f * u, (two)(1.0f, 0.0f))));
      // The minus compensates the half turn that is subtracted below.
      const float weight = -start.amplitude * row_lit[p][local_row];
#pragma unroll
      for (int n = 0; n < RUN_PIXELS; ++n) {
        // The top 23 bits form a float in [1, 2); minus 1.5 it is the turns minus a half.
        const float angle = 6.28318531f * (as_float((gamma >> 9) | 0x3f800000u) - 1.5f);
        const float x = x0 + n;
        const float lit_weight = x >= start.first && x <= start.last ? weight : 0.0f;
        re_batch[n] = fma(lit_weight, COSINE(angle), re_batch[n]);
#if !REAL_ALONE
        im_batch[n] = fma(lit_weight, SINE(angle), im_batch[n]);
#endif
        gamma += delta;
        delta += start.second_difference;
      }
    }
    for (int n = 0; n < RUN_PIXELS; ++n) {
      add_compensated(&re[n], &re_lost[n], re_batch[n]);
#if !REAL_ALONE
      add_compensated(&im[n], &im_lost[n], im_batch[n]);
#endif
    }
  }
  if (row0 + local_row >= rows) return;
  for (int n = 0; n < RUN_PIXELS; ++n) {
    if (column0 + n < nx) WRITE((long)(row0 + local_row) * nx + column0 + n, re[n], im[n])
  }
}
