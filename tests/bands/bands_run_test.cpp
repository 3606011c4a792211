// Results by bands of rows: the same bits in any order, resumption, damaged journals, memory.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/bands/band_queue_detail.hpp>
#include <holotone/bands/bands_run.hpp>
#include <iterator>
#include <mutex>
#include <set>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

namespace fs = std::filesystem;
using support::expect_error;

constexpr Shape<2> shape{37, 50};

std::uint16_t code_of(std::int64_t row, std::int64_t column) {
  return static_cast<std::uint16_t>(row * 1009 + column * 31);
}

void fill(std::int64_t first, View<std::uint16_t, 2> part) {
  Array<std::uint16_t, 2> codes(part.shape());
  for (std::int64_t row = 0; row < part.shape()[0]; ++row) {
    for (std::int64_t column = 0; column < part.shape()[1]; ++column) codes(row, column) = code_of(first + row, column);
  }
  const Queue queue(part.device());
  copy<std::uint16_t, 2>(part, codes.view(), queue);
  queue.synchronize();
}

class BandsRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] BandsFile file(const std::string& name, std::int64_t rows_at_once, const std::string& key = "k") const {
    return {.output = (folder_ / name).string(),
            .shape = shape,
            .key = key,
            .rows_at_once = rows_at_once,
            .stage = "numbering"};
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream stream(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Writes the whole by `queues` in bands of `rows` rows.
  std::string written(const std::string& name, std::int64_t rows, const std::vector<Queue>& queues) {
    BandsRun<std::uint16_t> run(file(name, rows), {}, Progress::none());
    run.write(queues,
              [](std::size_t, std::int64_t first, View<std::uint16_t, 2> part, Progress&) { fill(first, part); });
    run.finish();
    EXPECT_EQ(run.rates().pixels, shape[0] * shape[1]);
    return content(name);
  }
  /// Rows kept of a run that fails when it is asked for the band from `row` on, a multiple of 4. The band before it may
  /// not be written yet.
  std::int64_t stopped(const std::string& key, std::int64_t row) {
    BandsRun<std::uint16_t> run(file("a.npy", 4, key), {}, Progress::none());
    expect_error(ErrorCode::device, "pulled out", [&] {
      run.write({Queue()}, [&](std::size_t, std::int64_t first, View<std::uint16_t, 2> part, Progress&) {
        if (first == row) throw Error(ErrorCode::device, "pulled out");
        fill(first, part);
      });
    });
    const std::int64_t kept = run.kept_rows();
    EXPECT_TRUE(kept == row || kept == row - 4) << kept;
    return kept;
  }

  fs::path folder_;
};

TEST_F(BandsRunTest, BandsInAnyOrderGiveTheBitsOfOne) {
  const std::string whole = written("whole.npy", shape[0], {Queue()});
  ASSERT_GT(whole.size(), static_cast<std::size_t>(2 * shape[0] * shape[1]));
  std::uint16_t last = 0;
  std::memcpy(&last, whole.data() + whole.size() - 2, 2);
  EXPECT_EQ(last, code_of(shape[0] - 1, shape[1] - 1));
  for (const Device device : devices()) {
    for (const std::int64_t rows : {1, 4, 36}) {
      std::vector<Queue> queues;
      for (int i = 0; i < 3; ++i) queues.push_back(Queue::create(device));
      EXPECT_TRUE(written("bands.npy", rows, queues) == whole) << to_string(device) << ", " << rows << " rows";
    }
  }
}

TEST_F(BandsRunTest, AStoppedRunIsResumedByTheSameKeyAlone) {
  const std::string whole = written("whole.npy", shape[0], {Queue()});
  const std::int64_t kept = stopped("k", 20);
  EXPECT_FALSE(fs::exists(folder_ / "a.npy"));
  std::set<std::int64_t> made;
  {
    BandsRun<std::uint16_t> run(file("a.npy", 4), {}, Progress::none());
    EXPECT_EQ(run.resumed(), kept);
    run.write({Queue()}, [&](std::size_t, std::int64_t first, View<std::uint16_t, 2> part, Progress&) {
      made.insert(first);
      fill(first, part);
    });
    run.finish();
  }
  std::set<std::int64_t> missing{20, 24, 28, 32, 36};
  if (kept == 16) missing.insert(16);
  EXPECT_EQ(made, missing);
  EXPECT_TRUE(content("a.npy") == whole);
  stopped("other", 8);
  std::string discarded;
  BandsRun<std::uint16_t> run(file("a.npy", 4, "third"),
                              {.on_discarded = [&](const std::string& output) { discarded = output; }},
                              Progress::none());
  EXPECT_EQ(discarded, (folder_ / "a.npy").string());
  EXPECT_EQ(run.resumed(), 0);
}

TEST_F(BandsRunTest, AFailureSaysHowManyRowsAreKept) {
  const auto fail_from = [&](std::int64_t row, const BandsOptions& options) {
    BandsRun<std::uint16_t> run(file("a.npy", 4), options, Progress::none());
    run.write({Queue()}, [&](std::size_t, std::int64_t first, View<std::uint16_t, 2> part, Progress&) {
      if (first >= row) throw Error(ErrorCode::device, "pulled out");
      fill(first, part);
    });
  };
  const BandsOptions options{.on_failure = [](const Error& failure, std::int64_t kept_rows, std::int64_t rows) {
    throw Error(failure.code(),
                std::string(failure.what()) + ": " + std::to_string(kept_rows) + " of " + std::to_string(rows));
  }};
  expect_error(ErrorCode::device, " of 37", [&] { fail_from(20, options); });
  const BandsOptions without_rows{.on_failure = [](const Error&, std::int64_t, std::int64_t) { FAIL(); }};
  fs::remove(folder_ / ".a.npy.part");
  fs::remove(folder_ / ".a.npy.part.rows");
  expect_error(ErrorCode::device, "pulled out", [&] { fail_from(0, without_rows); });
}

TEST_F(BandsRunTest, RowsThatTheJournalDoesNotVouchForAreMadeAgain) {
  const std::int64_t kept = stopped("k", 20);
  const fs::path part = folder_ / ".a.npy.part";
  ASSERT_TRUE(fs::exists(part));
  {
    std::fstream rows(part, std::ios::in | std::ios::out | std::ios::binary);
    rows.seekp(static_cast<std::streamoff>(fs::file_size(part)) - 2 * shape[1] * (shape[0] - 5));  // within row 5
    rows.put('\x7f');
  }
  BandsRun<std::uint16_t> run(file("a.npy", 4), {}, Progress::none());
  EXPECT_EQ(run.resumed(), kept - 4) << "the band of the damaged row";
}

TEST_F(BandsRunTest, MemoryIsOneBandForEachQueueAndOneThatIsWritten) {
  std::mutex mutex;
  std::set<const void*> places;
  BandMemory memory;
  const BandsOptions options{.memory = &memory};
  BandsRun<std::uint16_t> run(file("a.npy", 2), options, Progress::none());
  run.write({Queue(), Queue()}, [&](std::size_t, std::int64_t first, View<std::uint16_t, 2> part, Progress&) {
    EXPECT_LE(part.shape()[0], 2);
    fill(first, part);
    const std::scoped_lock lock(mutex);
    places.insert(part.data());
  });
  EXPECT_LE(places.size(), 3u);
  run.finish();
  EXPECT_TRUE(places.contains(memory.take(Device{}, static_cast<std::size_t>(2 * shape[1]) * 2).data()))
      << "kept for the next run";
}

/// Cancels when `rows` rows are done.
class Cancelling final : public Progress {
 public:
  explicit Cancelling(std::int64_t rows) : rows_(rows) {}
  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override {
    EXPECT_EQ(stage, "numbering");
    EXPECT_EQ(total, shape[0]);
    return done < rows_;
  }

 private:
  std::int64_t rows_;
};

TEST_F(BandsRunTest, ProgressCancelsAndStatesAreReported) {
  Cancelling progress(12);
  std::int64_t reported = 0;
  std::string appeared;
  const BandsOptions options{.on_state =
                                 [&](const BandsState& state) {
                                   EXPECT_GE(state.done_rows, reported);
                                   EXPECT_EQ(state.missing_rows, shape[0]);
                                   EXPECT_EQ(state.columns, shape[1]);
                                   reported = state.done_rows;
                                 },
                             .before_output = [&](const std::string& path) { appeared = path; }};
  {
    BandsRun<std::uint16_t> run(file("a.npy", 4), options, progress);
    expect_error(ErrorCode::cancelled, "cancelled", [&] {
      run.write({Queue()},
                [](std::size_t, std::int64_t first, View<std::uint16_t, 2> part, Progress&) { fill(first, part); });
    });
    EXPECT_EQ(reported, 12);
    EXPECT_GE(run.kept_rows(), 4);
  }
  EXPECT_EQ(appeared, "");
  BandsRun<std::uint16_t> run(file("a.npy", 4), {.before_output = options.before_output}, Progress::none());
  run.write({Queue()},
            [](std::size_t, std::int64_t first, View<std::uint16_t, 2> part, Progress&) { fill(first, part); });
  run.finish();
  EXPECT_EQ(appeared, (folder_ / "a.npy").string());
  expect_error(ErrorCode::invalid_argument, "rows_at_once",
               [&] { const BandsRun<std::uint16_t> none(file("b.npy", 0), {}, Progress::none()); });
}

TEST(BandQueue, HandsOutEachBandOnceUntilItIsStopped) {
  Ranks one;
  BandQueue bands(one, {0, 4, 8}, [](std::int64_t) {});
  EXPECT_EQ(bands.next(), 0);
  EXPECT_EQ(bands.next(), 4);
  bands.stop();
  EXPECT_EQ(bands.next(), std::nullopt);
}

TEST(Ranks, WithoutAModuleThereIsOneProcess) {
  Ranks one;
  EXPECT_TRUE(one.first());
  EXPECT_FALSE(one.several());
  EXPECT_EQ(one.largest(3), 3);
  EXPECT_EQ(one.gather("a"), std::vector<std::string>{"a"});
  expect_error(ErrorCode::io, "lost", [&] { one.together([] { throw Error(ErrorCode::io, "lost"); }); });
  expect_error(ErrorCode::unsupported, "holotone_mpi.so", [] { const Ranks none("/none/holotone_mpi.so", 0, 1); });
}

}  // namespace
}  // namespace holotone
