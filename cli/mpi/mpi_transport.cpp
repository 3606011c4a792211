#include <holotone/bands/rank_transport.hpp>
#include <limits>
#include <mpi.h>

namespace {

int begin(int* rank, int* size) {
  // Threads call in turn.
  int level = 0;
  if (const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level); error != MPI_SUCCESS) {
    return error;
  }
  if (level < MPI_THREAD_SERIALIZED) return MPI_ERR_UNSUPPORTED_OPERATION;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (const int error = MPI_Comm_rank(MPI_COMM_WORLD, rank); error != MPI_SUCCESS) return error;
  return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int send(int to, int tag, const void* data, std::int64_t bytes) {
  if (bytes > std::numeric_limits<int>::max()) return MPI_ERR_COUNT;
  return MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

int probe(int tag, int* from, std::int64_t* bytes) {
  int arrived = 0;
  MPI_Status status;
  *from = -1;
  if (const int error = MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &arrived, &status); error != MPI_SUCCESS) {
    return error;
  }
  if (arrived == 0) return MPI_SUCCESS;
  *from = status.MPI_SOURCE;
  int count = 0;
  const int error = MPI_Get_count(&status, MPI_BYTE, &count);
  *bytes = count;
  return error;
}

int receive(int from, int tag, void* data, std::int64_t bytes) {
  return MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int end() { return MPI_Finalize(); }

void abort_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

}  // namespace

extern "C" {
extern const holotone::RankTransport holotone_rank_transport;
const holotone::RankTransport holotone_rank_transport{
    holotone::RankTransport::current_version, &begin, &send, &probe, &receive, &end, &abort_all};
}
