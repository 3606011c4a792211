#pragma once
// Not for users. What the module holotone_mpi provides.
#include <cstdint>

namespace holotone {

/// Messages between the processes that mpirun has started: what the module holotone_mpi gives the program, which is not
/// linked with MPI itself. Functions return 0, or MPI's error code.
struct RankTransport {
  static constexpr int current_version = 1;
  int version;
  /// Joins the job and sets this process's number and their count.
  int (*begin)(int* rank, int* size);
  int (*send)(int to, int tag, const void* data, std::int64_t bytes);
  /// Sets `from` and `bytes` to those of a message of this tag that has arrived, `from` to -1 if there is none.
  int (*probe)(int tag, int* from, std::int64_t* bytes);
  int (*receive)(int from, int tag, void* data, std::int64_t bytes);
  int (*end)();
  /// Ends all processes.
  void (*end_all)(int code);
};

/// Name under which the module has a `const RankTransport`.
inline constexpr const char* rank_transport_name = "holotone_rank_transport";

}  // namespace holotone
