#pragma once
// Shared by the HDF5 reader and writer. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <fmt/format.h>
#include <hdf5.h>
#include <holotone/core/error.hpp>
#include <mutex>
#include <string>
#include <string_view>

namespace holotone::io {

/// Closes an HDF5 object when it goes out of scope.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  /// Closes now; true on success.
  bool close() {
    const hid_t id = id_;
    id_ = -1;
    return close_(id) >= 0;
  }

 private:
  hid_t id_;
  Close close_;
};

/// Locks libhdf5, which may be built without locks, for this thread and silences its messages, until destroyed.
class Hdf5Session {
 public:
  Hdf5Session() : lock_(mutex()) {
    // Every handle is closed by hand. After a failed write libhdf5's own clean-up at exit would crash.
    static const bool no_clean_up = H5dont_atexit() >= 0;
    (void)no_clean_up;
    H5Eget_auto2(H5E_DEFAULT, &report_, &report_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, report_, report_data_); }
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex value;
    return value;
  }
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t report_ = nullptr;
  void* report_data_ = nullptr;
};

}  // namespace holotone::io
#endif
