#include <cstdio>
#include <holotone/core/array.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>

int main() {
  holotone::Array<float, 2> ramp({4, 8});
  holotone::parallel_for(0, 4, [&](std::int64_t row) {
    for (std::int64_t col = 0; col < 8; ++col) ramp(row, col) = static_cast<float>(row * 8 + col);
  });
  float sum = 0;
  for (const float value : ramp.host()) sum += value;
  std::printf("%s, sum %g\n", holotone::format_length(holotone::parse_length("pitch", "8um")).c_str(), sum);
  return sum == 496 ? 0 : 1;
}
