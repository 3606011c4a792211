// Code values of pixels as codes_pixel.hpp defines them there in float64, here in pairs of floats: products of colours
// and levels are exact, sRGB is within 2^-44. Bound by memory: 4 bytes read and 1 or 2 written a channel.
// CODE: uchar or ushort.
// Options: -DCODE=uchar
// Options: -DCODE=ushort
#include "holotone/core/array_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"

// CodePixel.
typedef struct {
  int channels, made, linear;
  uint levels, largest;  // the code of white before and after it is scaled to the range of its type
} Pixel;

// light^(5/12): the float's, and one step of Newton's for y^12 = light^5.
static two to_power(float light) {
  const two square = two_of_product(light, light);
  const two wanted = two_scale(two_multiply(square, square), light);
  const float first = powr(light, 5.0f / 12.0f);
  const two y2 = two_of_product(first, first);
  const two y4 = two_multiply(y2, y2);
  const two rest = two_subtract(wanted, two_multiply(two_multiply(y4, y4), y4));
  return two_add((two)(first, 0.0f), (two)(first * (rest.x / (12.0f * wanted.x)), 0.0f));
}

static two srgb(float light) {
  if (light <= 0x1.9a5c36p-9f) return two_scale((two)(12.92f, -0x1.47ae14p-24f), light);  // the float below 0.0031308
  return two_subtract(two_multiply((two)(1.055f, 0x1.c28f5cp-25f), to_power(light)), (two)(0.055f, 0x1.47ae14p-32f));
}

static CODE to_code(float colour, int light, Pixel pixel) {
  const float clamped = colour > 0.0f ? fmin(colour, 1.0f) : 0.0f;  // 0 for NaN
  const two value = light ? srgb(clamped) : (two)(clamped, 0.0f);
  const two levels = two_scale(value, (float)pixel.levels);
  const ulong code = (ulong)two_floor(two_add(levels, (two)(0.5f, 0.0f)));
  return (CODE)((2 * code * pixel.largest + pixel.levels) / (2 * pixel.levels));
}

__kernel void smoe_codes(Pixel pixel, long pixels, ARRAY(const float, colours), ARRAY(CODE, codes)) {
  const long i = get_global_id(0);
  if (i >= pixels) return;
  const __global float *pixel_colours = AT(colours) + i * pixel.channels;
  __global CODE *target = AT(codes) + i * pixel.made;
  const int alpha = pixel.channels == 2 || pixel.channels == 4;
  for (int c = 0; c < pixel.made; ++c) {
    if (pixel.channels == pixel.made) {
      target[c] = to_code(pixel_colours[c], pixel.linear && !(alpha && c == pixel.channels - 1), pixel);
    } else if (c == 3) {
      target[c] = to_code(alpha ? pixel_colours[pixel.channels - 1] : 1.0f, 0, pixel);
    } else {
      target[c] = to_code(pixel_colours[pixel.channels < 3 ? 0 : c], pixel.linear, pixel);
    }
  }
}
