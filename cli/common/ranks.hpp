#pragma once
#include <holotone/bands/ranks.hpp>
#include <string>

namespace holotone::cli {

/// The processes of this program's job. They run the same command; the first prints for all.
class Ranks : public holotone::Ranks {
 public:
  using holotone::Ranks::Ranks;
  /// Under mpirun the first call joins the job. Throws unsupported if this program was built without MPI, device if MPI
  /// cannot start.
  static Ranks& all();
  /// Number of processes that mpirun says it has started, and that of this one, without joining them.
  static int stated_count();
  static int stated_rank();
};

/// " of rank 3 on HOST" for messages; empty for one process.
std::string of_this_rank();

}  // namespace holotone::cli
