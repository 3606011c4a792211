#include <chrono>
#include <holotone/bands/band_queue_detail.hpp>
#include <string>
#include <thread>
#include <utility>

namespace holotone {
namespace {

// Requests to the first process: a letter, and the band that it is about.
constexpr char asks = 'a';
constexpr char wrote = 'w';
constexpr char failed = 'f';
constexpr char leaves = 'l';
constexpr std::string_view no_band = "-";

}  // namespace

BandQueue::BandQueue(Ranks& ranks, std::vector<std::int64_t> bands, std::function<void(std::int64_t)> written)
    : ranks_(ranks), bands_(std::move(bands)), written_(std::move(written)) {}

std::optional<std::int64_t> BandQueue::take() {
  const std::scoped_lock lock(mutex_);
  if (stopped_ || taken_ == bands_.size()) return std::nullopt;
  return bands_[taken_++];
}

std::optional<std::int64_t> BandQueue::next() {
  if (ranks_.first()) return take();
  const std::scoped_lock lock(asking_);
  if (stopped_) return std::nullopt;
  ranks_.send(0, Ranks::Tag::request, std::string(1, asks));
  const auto answer = ranks_.wait(Ranks::Tag::answer).second;
  if (answer == no_band) return std::nullopt;
  return std::stoll(answer);
}

void BandQueue::done(std::int64_t band) {
  if (!ranks_.first()) ranks_.send(0, Ranks::Tag::request, wrote + std::to_string(band));
}

void BandQueue::stop() {
  const std::scoped_lock lock(ranks_.first() ? mutex_ : asking_);
  stopped_ = true;
  if (!ranks_.first()) ranks_.send(0, Ranks::Tag::request, std::string(1, failed));
}

void BandQueue::leave() { ranks_.send(0, Ranks::Tag::request, std::string(1, leaves)); }

void BandQueue::serve() {
  for (int left = 1; left < ranks_.count();) {
    const auto [from, request] = ranks_.wait(Ranks::Tag::request);
    if (request.front() == asks) {
      const auto band = take();
      ranks_.send(from, Ranks::Tag::answer, band ? std::to_string(*band) : std::string(no_band));
    }
    if (request.front() == wrote) written_(std::stoll(request.substr(1)));
    if (request.front() == failed) stop();
    if (request.front() == leaves) ++left;
  }
}

}  // namespace holotone
