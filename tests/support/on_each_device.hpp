#pragma once
// A fixture that runs a case on every device of the build, and reports a missing device.
#include <cmath>
#include <complex>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/array.hpp>
#include <string>
#include <vector>

namespace support {

/// Parameter: "cpu", "cuda" or "opencl" (every such device of the machine). Skips visibly if the machine has none.
class OnEachDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const auto device : holotone::devices()) {
      if (holotone::to_string(device).starts_with(GetParam())) devices_.push_back(device);
    }
    if (devices_.empty()) {
      GTEST_SKIP() << "no device of " << GetParam() << " on this machine, or a build without this backend";
    }
  }
  /// Calls body(device) for each device.
  template <class Body>
  void on_each(const Body& body) const {
    for (const auto device : devices_) {
      SCOPED_TRACE(holotone::to_string(device));
      body(device);
    }
  }

  std::vector<holotone::Device> devices_;
};

/// True for a device whose compiler does not take the kernels that render mixtures (docs/opencl.md).
inline bool lacks_mixtures(holotone::Device device) {
  const std::string detail = holotone::describe(device).detail;
  return detail.find("Portable Computing Language") != std::string::npos &&
         (detail.find("driver 4.") != std::string::npos || detail.find("driver 5.") != std::string::npos);
}

/// For the rendering of mixtures.
class OnEachRenderer : public OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (std::erase_if(devices_, lacks_mixtures) > 0 && devices_.empty()) {
      GTEST_SKIP() << "this PoCL does not compile the kernels of mixtures";
    }
  }
};

#define HOLOTONE_ON_DEVICES(suite, ...)                                 \
  INSTANTIATE_TEST_SUITE_P(Device, suite, testing::Values(__VA_ARGS__), \
                           [](const auto& which) { return std::string(which.param); })
#define HOLOTONE_ON_EACH_DEVICE(suite) HOLOTONE_ON_DEVICES(suite, "cpu", "cuda", "opencl")
/// For operations that OpenCL does not have.
#define HOLOTONE_ON_CPU_AND_CUDA(suite) HOLOTONE_ON_DEVICES(suite, "cpu", "cuda")

using Complex = std::complex<float>;
using Complex64 = std::complex<double>;

/// A float64 field rounded to a device array.
inline holotone::Array<Complex, 2> upload(const std::vector<Complex64>& values, holotone::Shape<2> shape,
                                          holotone::Device device) {
  holotone::Array<Complex, 2> host(shape);
  for (std::size_t i = 0; i < values.size(); ++i) host.data()[i] = Complex(values[i]);
  return host.to(device);
}

/// ||got - expected|| / ||expected||; NaN counts as infinite.
template <class Got, class Expected>
double relative_error(const Got* got, const std::vector<Expected>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(Complex64(got[i]) - Complex64(expected[i]));
    norm += std::norm(Complex64(expected[i]));
  }
  const double error = std::sqrt(difference / norm);
  return std::isnan(error) ? INFINITY : error;
}

/// Expects error <= tolerance and prints the remaining factor.
inline void expect_within(const std::string& what, double error, double tolerance) {
  std::printf("%-52s error %.2e, tolerance %.2e, slack %.1f\n", what.c_str(), error, tolerance, tolerance / error);
  EXPECT_LE(error, tolerance) << what;
}

/// Expects holotone::Error with this code and text.
template <class Call>
void expect_error(holotone::ErrorCode code, const std::string& text, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; expected: " << text;
  } catch (const holotone::Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace support
