// Shimobaba et al. 2010, Figures 2 (b) and 3, in OpenCL C, with each of the five optimisations by a switch:
//   RECURRENCE  Eq. (2): an item sums RUN = 8 pixels of a row, else one
//   LOCAL       256 points at a time in local memory, else from device memory
//   UNROLL      4 points a round of the loop, else 1
//   VECTOR      the pixels of an item as float8 (8) or two float4 (4), else one by one (1)
//   NATIVE      native_cos, else cos
// A point is {x_j, y_j, P_j, A_j}, in pixels. Groups of 16 x 16 items.
// Options: -DRECURRENCE=0 -DLOCAL=0 -DUNROLL=1 -DVECTOR=1 -DNATIVE=0
// Options: -DRECURRENCE=1 -DLOCAL=1 -DUNROLL=4 -DVECTOR=8 -DNATIVE=1
// Options: -DRECURRENCE=1 -DLOCAL=1 -DUNROLL=4 -DVECTOR=4 -DNATIVE=1
#include "holotone/core/array_opencl.cl"

#define SIDE 16
#define BATCH (SIDE * SIDE)
#if RECURRENCE
#define RUN 8
#else
#define RUN 1
#endif
#if NATIVE
#define COSINE native_cos
#else
#define COSINE cos
#endif

// Adds a point's wave to the item's pixels.
static void add_point(float4 point, float x, float y, float *sum) {
  const float dx = x - point.x;
  const float dy = y - point.y;
  float gamma = point.z * (dx * dx + dy * dy);
#if !RECURRENCE
  sum[0] += point.w * COSINE(gamma);
#else
  float delta = point.z * (2.0f * dx + 1.0f);
  const float second = 2.0f * point.z;
  float phase[RUN];
  for (int n = 0; n < RUN; ++n) {
    phase[n] = gamma;
    gamma += delta;
    delta += second;
  }
#if VECTOR == 8
  vstore8(vload8(0, sum) + point.w * COSINE(vload8(0, phase)), 0, sum);
#elif VECTOR == 4
  vstore4(vload4(0, sum) + point.w * COSINE(vload4(0, phase)), 0, sum);
  vstore4(vload4(1, sum) + point.w * COSINE(vload4(1, phase)), 1, sum);
#else
  for (int n = 0; n < RUN; ++n) sum[n] += point.w * COSINE(phase[n]);
#endif
#endif
}

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void shimobaba(ARRAY(const float4, points), int count,
                                                                             ARRAY(float, intensity), int nx, int ny) {
  const int column = (int)get_global_id(0) * RUN;
  const int row = (int)get_global_id(1);
  const float x = (float)column;
  const float y = (float)row;
  float sum[RUN];
  for (int n = 0; n < RUN; ++n) sum[n] = 0.0f;
#if LOCAL
  __local float4 batch[BATCH];
  const int item = (int)(get_local_id(1) * SIDE + get_local_id(0));
  for (int base = 0; base < count; base += BATCH) {
    barrier(CLK_LOCAL_MEM_FENCE);
    batch[item] = base + item < count ? AT(points)[base + item] : (float4)(0.0f);  // an amplitude of 0 adds nothing
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < BATCH; j += UNROLL) {
#pragma unroll
      for (int k = 0; k < UNROLL; ++k) add_point(batch[j + k], x, y, sum);
    }
  }
#else
  for (int j = 0; j < count; j += UNROLL) {
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
      if (j + k < count) add_point(AT(points)[j + k], x, y, sum);
    }
  }
#endif
  if (row >= ny) return;
  for (int n = 0; n < RUN; ++n) {
    if (column + n < nx) AT(intensity)[(long)row * nx + column + n] = sum[n];
  }
}
