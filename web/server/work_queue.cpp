#include <algorithm>
#include <utility>
#include <web/server/work_queue.hpp>

namespace holotone::web {

std::deque<WorkQueue::Client>::iterator WorkQueue::find(ClientNumber number) {
  return std::ranges::find(clients_, number, &Client::number);
}

bool WorkQueue::runs(ClientNumber client, const std::string& pane) const {
  return running_ && running_->client == client && running_->pane == pane;
}

bool WorkQueue::push(Request request) {
  const auto client = find(request.client);
  auto& waiting =
      (client != clients_.end() ? *client : clients_.emplace_back(Client{request.client, false, {}})).waiting;
  auto place = std::ranges::find_if(waiting, [&](const Waiting& one) { return one.request.pane == request.pane; });
  if (place != waiting.end()) {
    place->request = std::move(request);
  } else if (waiting.size() < waiting_per_client_) {
    place = waiting.insert(waiting.end(), {std::move(request), 0});
  } else {
    return false;
  }
  if (runs(place->request.client, place->request.pane) && !*running_->cancelled && !running_->quick &&
      running_->cancelled_before < (place->request.quick ? 2 : 1)) {
    *running_->cancelled = true;
    place->cancelled_before = running_->cancelled_before + 1;
  }
  return true;
}

void WorkQueue::close_pane(ClientNumber client, const std::string& pane) {
  if (const auto entry = find(client); entry != clients_.end()) {
    std::erase_if(entry->waiting, [&](const Waiting& one) { return one.request.pane == pane; });
  }
  if (runs(client, pane)) cancel();
}

void WorkQueue::remove_client(ClientNumber client) {
  std::erase_if(clients_, [&](const Client& one) { return one.number == client; });
  if (running_ && running_->client == client) cancel();
}

void WorkQueue::hold(ClientNumber client) {
  if (const auto entry = find(client); entry != clients_.end()) entry->held = true;
}

void WorkQueue::release(ClientNumber client) {
  if (const auto entry = find(client); entry != clients_.end()) entry->held = false;
}

std::optional<WorkQueue::Job> WorkQueue::next() {
  const auto client =
      std::ranges::find_if(clients_, [](const Client& one) { return !one.held && !one.waiting.empty(); });
  if (running_ || client == clients_.end()) return std::nullopt;
  Waiting first = std::move(client->waiting.front());
  client->waiting.pop_front();
  running_ = Running{client->number, first.request.pane, first.request.quick, first.cancelled_before,
                     std::make_shared<std::atomic<bool>>(false)};
  return Job{std::move(first.request), running_->cancelled};
}

bool WorkQueue::finish() {
  const bool wanted = !*running_->cancelled;
  const auto client = find(running_->client);
  if (client != clients_.end()) std::rotate(client, client + 1, clients_.end());
  running_.reset();
  return wanted;
}

void WorkQueue::cancel() {
  if (running_) *running_->cancelled = true;
}

}  // namespace holotone::web
