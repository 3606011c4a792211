#pragma once
// Loops over the components of a model on the CPU. Not for users.
#include <algorithm>
#include <holotone/core/parallel.hpp>

namespace holotone::smoe {

/// Calls body(j) for every j < count: on all threads, or on one if waking the others would take longer.
template <class Body>
void over_components(std::int64_t count, const Body& body) {
  constexpr std::int64_t block = 256;
  const auto part = [&](std::int64_t i) {
    for (std::int64_t j = i * block; j < std::min(count, (i + 1) * block); ++j) body(static_cast<std::size_t>(j));
  };
  if (count <= block) return part(0);
  parallel_for(0, (count + block - 1) / block, part);
}

}  // namespace holotone::smoe
