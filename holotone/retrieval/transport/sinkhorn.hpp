#pragma once
// Optimal transport between two sets of cells by Sinkhorn's iteration in the log domain. Not for users.
#include <array>
#include <holotone/core/array.hpp>
#include <memory>
#include <vector>

namespace holotone::retrieval {

/// Cells of a light and their places along y and x.
struct TransportCells {
  std::array<std::vector<double>, 2> places;
  std::vector<float> log_mass;  ///< {y, x}
};

/// Iterates on one device.
class SinkhornEngine {
 public:
  virtual ~SinkhornEngine() = default;
  /// Starts with the potential {y, x} of the source's cells, and that of the target's at zero.
  virtual void start(const TransportCells& source, const TransportCells& target,
                     const std::vector<float>& potential) = 0;
  /// Tables log exp(-weight (x - y)^2 / (2 epsilon)) of both axes.
  virtual void set_epsilon(double epsilon, const std::array<double, 2>& weights) = 0;
  /// to = kept to - (1 - kept) epsilon log sum mass exp((from - cost) / epsilon).
  virtual void update_target(float kept) = 0;
  virtual void update_source(float kept) = 0;
  [[nodiscard]] virtual std::vector<float> potential() const = 0;
};

std::unique_ptr<SinkhornEngine> sinkhorn_cpu();
std::unique_ptr<SinkhornEngine> sinkhorn_cuda(const Queue& queue);

/// Table {from, to} of -weight (x - y)^2 / (2 epsilon).
std::vector<float> log_kernel(const std::vector<double>& from, const std::vector<double>& to, double weight,
                              double epsilon);

}  // namespace holotone::retrieval
