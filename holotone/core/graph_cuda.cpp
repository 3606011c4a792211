#include <cstddef>
#include <holotone/core/graph_cuda.hpp>
#include <vector>

namespace holotone::cuda {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

/// Nodes before or after one; empty if edges have more to say than an order.
template <class Call>
Nodes neighbours(Call call, cudaGraphNode_t node) {
  std::size_t count = 0;
  if (call(node, nullptr, nullptr, &count) != cudaSuccess) count = 0;
  Nodes found(count);
  if (count > 0 && call(node, found.data(), nullptr, &count) != cudaSuccess) found.clear();
  cudaGetLastError();  // which would be reported as the next call's
  return found;
}

bool sets(cudaGraphNode_t node, const GraphScratch& scratch) {
  cudaGraphNodeType type{};
  check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
  if (type != cudaGraphNodeTypeMemset) return false;
  cudaMemsetParams params{};
  check(cudaGraphMemsetNodeGetParams(node, &params), "cudaGraphMemsetNodeGetParams");
  const auto* const first = static_cast<const std::byte*>(scratch.data);
  return params.dst >= first && params.dst < first + scratch.bytes;
}

}  // namespace

void set_early(cudaGraph_t graph, const GraphScratch& scratch) {
  if (scratch.bytes == 0) return;
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
  Nodes nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
  if (nodes.empty()) return;
  cudaGraphNode_t last_user = nodes.front();  // a first node of its own would delay the others
  for (auto* const node : nodes) {
    if (!sets(node, scratch)) continue;
    const auto before = neighbours(&cudaGraphNodeGetDependencies, node);
    const auto after = neighbours(&cudaGraphNodeGetDependentNodes, node);
    if (before.size() != 1 || after.size() != 1) return;
    if (before.front() != last_user) {
      check(cudaGraphRemoveDependencies(graph, before.data(), &node, nullptr, 1), "cudaGraphRemoveDependencies");
      check(cudaGraphAddDependencies(graph, before.data(), after.data(), nullptr, 1), "cudaGraphAddDependencies");
      check(cudaGraphAddDependencies(graph, &last_user, &node, nullptr, 1), "cudaGraphAddDependencies");
    }
    last_user = after.front();
  }
}

}  // namespace holotone::cuda
