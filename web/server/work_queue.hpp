#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace holotone::web {

using ClientNumber = std::uint64_t;

/// A request of a client's pane. `quick`: its answer does not take long (a coarse picture, a description).
struct Request {
  ClientNumber client = 0;
  std::string pane;
  bool quick = false;
  nlohmann::json message;
};

/// Which request is computed next. One is computed at a time. Clients take turns; a client's panes keep the order in
/// which they asked, and of a pane's requests only the newest waits.
///
/// A newer request of the same pane cancels the running one if that is not quick, but of a pane's requests in sequence
/// at most one for a newer one that is not quick, and at most two in all. So pictures keep coming while a control is
/// dragged (quick requests run to their end) and while a key is pressed again and again (of full pictures every second
/// one does). A lost client or a closed pane always cancels.
///
/// Not for several threads at a time.
class WorkQueue {
 public:
  explicit WorkQueue(std::size_t waiting_per_client) : waiting_per_client_(waiting_per_client) {}

  /// Takes a request in. False: as many other panes of the client as there may be wait already.
  [[nodiscard]] bool push(Request request);
  /// Forgets a pane's request.
  void close_pane(ClientNumber client, const std::string& pane);
  /// Forgets a client.
  void remove_client(ClientNumber client);
  /// Computes nothing for a client until release: an answer is on its way to it.
  void hold(ClientNumber client);
  void release(ClientNumber client);

  struct Job {
    Request request;
    std::shared_ptr<std::atomic<bool>> cancelled;
  };
  /// The request to compute now; nothing if there is none, or one is running.
  [[nodiscard]] std::optional<Job> next();
  /// Says that what next() gave is done. True if its answer is wanted.
  [[nodiscard]] bool finish();
  /// Cancels what runs.
  void cancel();
  [[nodiscard]] bool has_clients() const { return !clients_.empty(); }

 private:
  struct Waiting {
    Request request;
    int cancelled_before = 0;  ///< how many of the pane's last requests in sequence were cancelled for newer ones
  };
  struct Client {
    ClientNumber number = 0;
    bool held = false;
    std::deque<Waiting> waiting;
  };
  struct Running {
    ClientNumber client = 0;
    std::string pane;
    bool quick = false;
    int cancelled_before = 0;
    std::shared_ptr<std::atomic<bool>> cancelled;
  };

  [[nodiscard]] std::deque<Client>::iterator find(ClientNumber number);
  [[nodiscard]] bool runs(ClientNumber client, const std::string& pane) const;

  std::size_t waiting_per_client_;
  std::deque<Client> clients_;  ///< in the order of their turns
  std::optional<Running> running_;
};

}  // namespace holotone::web
