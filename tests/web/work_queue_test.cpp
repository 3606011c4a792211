#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <web/server/rate_limit.hpp>
#include <web/server/work_queue.hpp>

namespace holotone::web {
namespace {

/// A queue whose requests have numbers.
class Queue {
 public:
  explicit Queue(std::size_t waiting = 8) : queue_(waiting) {}

  bool push(ClientNumber client, const std::string& pane, int number, bool quick = false) {
    return queue_.push({client, pane, quick, number});
  }
  /// The number of the request that starts; -1 if none does.
  int next() {
    const auto job = queue_.next();
    if (!job) return -1;
    cancelled_ = job->cancelled;
    return job->request.message.get<int>();
  }
  bool cancelled() const { return *cancelled_; }
  /// Ends what runs; true if its answer is wanted.
  bool finish() { return queue_.finish(); }
  WorkQueue* operator->() { return &queue_; }

 private:
  WorkQueue queue_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

TEST(ViewerQueue, OneRequestIsComputedAtATime) {
  Queue queue;
  EXPECT_EQ(queue.next(), -1);
  EXPECT_TRUE(queue.push(1, "a", 10));
  EXPECT_TRUE(queue.push(1, "b", 20));
  EXPECT_EQ(queue.next(), 10);
  EXPECT_EQ(queue.next(), -1);
  EXPECT_TRUE(queue.finish());
  EXPECT_EQ(queue.next(), 20);
  EXPECT_TRUE(queue.finish());
  EXPECT_EQ(queue.next(), -1);
}

TEST(ViewerQueue, TheNewestOfAPaneWaitsInTheOldestsPlace) {
  Queue queue;
  EXPECT_TRUE(queue.push(1, "a", 10));
  EXPECT_TRUE(queue.push(1, "b", 20));
  EXPECT_TRUE(queue.push(1, "a", 11));
  EXPECT_TRUE(queue.push(1, "a", 12));
  EXPECT_EQ(queue.next(), 12);
  EXPECT_TRUE(queue.finish());
  EXPECT_EQ(queue.next(), 20);
  EXPECT_TRUE(queue.finish());
  EXPECT_EQ(queue.next(), -1);
}

TEST(ViewerQueue, ClientsTakeTurns) {
  Queue queue;
  for (int pane = 0; pane < 3; ++pane) {
    for (int client = 1; client <= 3; ++client) {
      EXPECT_TRUE(queue.push(client, std::string(1, static_cast<char>('a' + pane)), 10 * client + pane));
    }
  }
  for (const int expected : {10, 20, 30, 11, 21, 31, 12, 22, 32}) {
    EXPECT_EQ(queue.next(), expected);
    EXPECT_TRUE(queue.finish());
  }
}

TEST(ViewerQueue, OneClientCannotKeepAnotherWaiting) {
  Queue queue;
  EXPECT_TRUE(queue.push(1, "a", 10));
  EXPECT_EQ(queue.next(), 10);
  EXPECT_TRUE(queue.push(2, "a", 20));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.push(1, std::string(1, static_cast<char>('b' + i)), 11 + i));
  EXPECT_TRUE(queue.finish());
  EXPECT_EQ(queue.next(), 20);
}

TEST(ViewerQueue, AClientsPanesAreBounded) {
  Queue queue(2);
  EXPECT_TRUE(queue.push(1, "a", 10));
  EXPECT_TRUE(queue.push(1, "b", 20));
  EXPECT_FALSE(queue.push(1, "c", 30));
  EXPECT_TRUE(queue.push(1, "b", 21)) << "a pane that waits is no further one";
  EXPECT_TRUE(queue.push(2, "a", 40)) << "another client has its own bound";
}

TEST(ViewerQueue, AFullPictureGivesWayToACoarseOne) {
  Queue queue;
  EXPECT_TRUE(queue.push(1, "a", 10));
  EXPECT_EQ(queue.next(), 10);
  EXPECT_TRUE(queue.push(1, "b", 20, true));
  EXPECT_FALSE(queue.cancelled()) << "another pane";
  EXPECT_TRUE(queue.push(2, "a", 30, true));
  EXPECT_FALSE(queue.cancelled()) << "another client";
  EXPECT_TRUE(queue.push(1, "a", 11, true));
  EXPECT_TRUE(queue.cancelled());
  EXPECT_FALSE(queue.finish());
}

TEST(ViewerQueue, ACoarsePictureIsFinished) {
  Queue queue;
  EXPECT_TRUE(queue.push(1, "a", 10, true));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(queue.next(), 10 + i);
    EXPECT_TRUE(queue.push(1, "a", 11 + i, i != 19));
    EXPECT_FALSE(queue.cancelled());
    EXPECT_TRUE(queue.finish());
  }
}

TEST(ViewerQueue, OfFullPicturesEverySecondIsFinished) {
  Queue queue;
  EXPECT_TRUE(queue.push(1, "a", 0));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(queue.next(), i);
    EXPECT_TRUE(queue.push(1, "a", i + 1));
    EXPECT_EQ(queue.cancelled(), i % 2 == 0);
    EXPECT_EQ(queue.finish(), i % 2 == 1);
  }
}

// Any sequence of requests: of a pane's requests in sequence at most two are cancelled.
TEST(ViewerQueue, PicturesKeepComing) {
  std::mt19937 random(7);
  Queue queue;
  std::map<std::string, int> cancelled_in_sequence;
  int answered = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string pane = random() % 2 == 0 ? "a" : "b";
    EXPECT_TRUE(queue.push(1, pane, round, random() % 3 == 0));
    if (random() % 4 != 0) continue;
    const auto job = queue->next();
    if (!job) continue;
    for (unsigned i = random() % 4; i > 0; --i) {
      EXPECT_TRUE(queue.push(1, random() % 2 == 0 ? "a" : "b", round, random() % 3 == 0));
    }
    auto& sequence = cancelled_in_sequence[job->request.pane];
    sequence = queue.finish() ? 0 : sequence + 1;
    answered += sequence == 0 ? 1 : 0;
    ASSERT_LE(sequence, 2) << round;
  }
  EXPECT_GT(answered, 1000);
}

TEST(ViewerQueue, LostClientsAndClosedPanesAreForgotten) {
  Queue queue;
  EXPECT_TRUE(queue.push(1, "a", 10, true));
  EXPECT_EQ(queue.next(), 10);
  EXPECT_TRUE(queue.push(1, "a", 11));
  EXPECT_TRUE(queue.push(1, "b", 20));
  queue->close_pane(1, "b");
  EXPECT_FALSE(queue.cancelled());
  queue->close_pane(1, "a");
  EXPECT_TRUE(queue.cancelled());
  EXPECT_FALSE(queue.finish());
  EXPECT_EQ(queue.next(), -1);

  EXPECT_TRUE(queue.push(1, "a", 12, true));
  EXPECT_TRUE(queue.push(1, "b", 21));
  EXPECT_TRUE(queue.push(2, "a", 30));
  EXPECT_EQ(queue.next(), 12);
  EXPECT_TRUE(queue.finish());
  EXPECT_EQ(queue.next(), 30);
  queue->remove_client(1);
  EXPECT_FALSE(queue.cancelled());
  EXPECT_TRUE(queue.finish());
  EXPECT_EQ(queue.next(), -1);
  EXPECT_TRUE(queue.push(2, "a", 31, true));
  EXPECT_EQ(queue.next(), 31);
  queue->remove_client(2);
  EXPECT_TRUE(queue.cancelled());
  queue->hold(2);
  queue->close_pane(2, "a");
  queue->release(2);
  EXPECT_FALSE(queue.finish());
}

TEST(ViewerQueue, NothingIsComputedForAClientThatDoesNotTakeItsAnswer) {
  Queue queue;
  EXPECT_TRUE(queue.push(1, "a", 10));
  EXPECT_EQ(queue.next(), 10);
  EXPECT_TRUE(queue.finish());
  queue->hold(1);
  EXPECT_TRUE(queue.push(1, "a", 11));
  EXPECT_TRUE(queue.push(1, "a", 12));
  EXPECT_EQ(queue.next(), -1);
  EXPECT_TRUE(queue.push(2, "a", 20));
  EXPECT_EQ(queue.next(), 20);
  EXPECT_TRUE(queue.finish());
  queue->release(1);
  EXPECT_EQ(queue.next(), 12);
}

TEST(ViewerQueue, TheRateOfMessagesIsBounded) {
  RateLimit::Time now{};
  RateLimit limit(10, 3, now);
  EXPECT_EQ(limit.take(now).count(), 0);
  EXPECT_EQ(limit.take(now).count(), 0);
  // The third takes the last; then one each 100 ms.
  for (int i = 0; i < 5; ++i) {
    const auto wait = limit.take(now);
    EXPECT_NEAR(std::chrono::duration<double>(wait).count(), 0.1, 1e-6) << i;
    now += wait;
  }
  now += std::chrono::hours(1);
  EXPECT_EQ(limit.take(now).count(), 0);
  EXPECT_EQ(limit.take(now).count(), 0);
  EXPECT_GT(limit.take(now).count(), 0);
}

}  // namespace
}  // namespace holotone::web
