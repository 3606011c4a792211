#include <cstdio>
#include <holotone/core/device.hpp>
#include <holotone/io/guarded.hpp>

int main(int argc, char** argv) {
  if (const auto code = holotone::guarded_child(argc, argv)) return *code;
  for (const auto& device : holotone::devices()) std::puts(holotone::describe(device).name.c_str());
  return 0;
}
