#include <cstdio>
#include <holotone/core/device.hpp>

int main() {
  for (const auto& device : holotone::devices()) std::puts(holotone::describe(device).name.c_str());
  return 0;
}
