// Twins of phase_math.h: phases in turns, products of complex numbers.

// (cosine, sine) of 2 pi r for |r| <= 1/2; absolute error below 1.2e-7.
static float2 wave_of_turns(float r) {
  const float quarters = rint(4.0f * r);
  const float rest = r - 0.25f * quarters;
  const float s = rest * rest;
  const float odd = rest * (6.2831852f + s * (-41.341629f + s * (81.588207f + s * -75.242832f)));
  const float even = 1.0f + s * (-19.739209f + s * (64.939316f + s * (-85.442852f + s * 59.220407f)));
  const int quarter = (int)quarters;
  const bool swapped = (quarter & 1) != 0;
  const float a = swapped ? even : odd;
  const float b = swapped ? odd : even;
  return (float2)(((quarter + 1) & 2) != 0 ? -b : b, (quarter & 2) != 0 ? -a : a);
}

static float2 product(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
