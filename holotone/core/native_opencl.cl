// Cosines and sines of the device's own functions, whose precision OpenCL leaves to the device. Of different angles: a
// compiler may replace the two of one angle by a function of its own.
#include "holotone/core/array_opencl.cl"

__kernel void native_waves(ARRAY(const float, angle), ARRAY(float2, wave)) {
  const size_t i = get_global_id(0);
  const size_t other = get_global_size(0) - 1 - i;
  AT(wave)[i] = (float2)(native_cos(AT(angle)[i]), native_sin(AT(angle)[other]));
}
