#pragma once
// Not for users. Threads of work that several devices share.
#include <cstddef>
#include <cstdint>
#include <functional>

namespace holotone {

/// Runs work(device), which does not throw, for every device in a thread of its own with its share of the processors;
/// for one device in this thread.
void on_devices(std::size_t devices, const std::function<void(std::size_t device)>& work);

/// Calls work(device, item) for the items 0 .. count - 1, one thread a device: whichever is free takes the next. Throws
/// the first error.
void share_among(std::size_t devices, std::int64_t count,
                 const std::function<void(std::size_t device, std::int64_t item)>& work);

}  // namespace holotone
