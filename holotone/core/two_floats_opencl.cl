// Numbers as unevaluated sums of two floats (Dekker 1971): 48 bits on devices that have no double. A phase of 1e7 turns
// keeps 4e-8 turns. x is the nearest float, y the rest. Needs a device that rounds to nearest, and no fused operation
// but those written out.
#pragma OPENCL FP_CONTRACT OFF

typedef float2 two;

// |a| >= |b|, or a = 0.
static two two_of_ordered(float a, float b) {
  const float sum = a + b;
  return (two)(sum, b - (sum - a));
}

static two two_of_sum(float a, float b) {
  const float sum = a + b;
  const float part = sum - a;
  return (two)(sum, (a - (sum - part)) + (b - part));
}

static two two_of_product(float a, float b) {
  const float product = a * b;
  return (two)(product, fma(a, b, -product));
}

static two two_add(two a, two b) {
  const two high = two_of_sum(a.x, b.x);
  const two low = two_of_sum(a.y, b.y);
  const two middle = two_of_ordered(high.x, high.y + low.x);
  return two_of_ordered(middle.x, middle.y + low.y);
}

static two two_subtract(two a, two b) { return two_add(a, -b); }

static two two_multiply(two a, two b) {
  const two product = two_of_product(a.x, b.x);
  return two_of_ordered(product.x, fma(a.x, b.y, fma(a.y, b.x, product.y)));
}

static two two_scale(two a, float b) {
  const two product = two_of_product(a.x, b);
  return two_of_ordered(product.x, fma(a.y, b, product.y));
}

static two two_divide(two a, two b) {
  const float first = a.x / b.x;
  const two rest = two_subtract(a, two_scale(b, first));
  const float second = rest.x / b.x;
  const two last = two_subtract(rest, two_scale(b, second));
  const two sum = two_of_ordered(first, second);
  return two_add(sum, (two)(last.x / b.x, 0.0f));
}

// 0 for a <= 0.
static two two_square_root(two a) {
  if (!(a.x > 0.0f)) return (two)(0.0f, 0.0f);
  const float root = sqrt(a.x);
  const two rest = two_subtract(a, two_of_product(root, root));
  return two_of_ordered(root, rest.x / (2.0f * root));
}

// Turns without their integer part, in [-1/2, 1/2]; |turns| < 2^47.
static float two_reduce(two turns) {
  const float high = turns.x - rint(turns.x);
  const float low = turns.y - rint(turns.y);
  const float rest = high + low;
  return rest - rint(rest);
}

// Turns modulo one in 32-bit fixed point, 2^32 a turn, to the nearest.
static uint two_fixed(two turns) {
  const float high = turns.x - rint(turns.x);
  const float low = turns.y - rint(turns.y);
  return (uint)((convert_long_rte(high * 0x1p40f) + convert_long_rte(low * 0x1p40f) + 128L) >> 8);
}

static float two_ceil(two a) {
  const float high = ceil(a.x);
  return high == a.x ? high + ceil(a.y) : high;
}

static float two_floor(two a) {
  const float high = floor(a.x);
  return high == a.x ? high + floor(a.y) : high;
}
