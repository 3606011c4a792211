#pragma once
// Shared by the TIFF reader and writer. Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <tiffio.h>

namespace holotone::io {

struct CloseTiff {
  void operator()(TIFF* file) const { TIFFClose(file); }
};
using TiffHandle = std::unique_ptr<TIFF, CloseTiff>;

struct FreeTiffOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};
using TiffOptions = std::unique_ptr<TIFFOpenOptions, FreeTiffOptions>;

/// First error of a file. libtiff calls the handlers from C and prints nothing.
struct TiffMessage {
  char text[256] = "an error without a message";
  bool given = false;
};

extern "C" inline int keep_tiff_error(TIFF*, void* data, const char*, const char* format, va_list arguments) {
  auto& message = *static_cast<TiffMessage*>(data);
  if (!message.given) std::vsnprintf(message.text, sizeof message.text, format, arguments);
  for (char& c : message.text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  message.given = true;
  return 1;  // the process's handler is not called
}
extern "C" inline int ignore_tiff_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

/// Returns options that store errors in `message`, ignore warnings and limit each allocation of libtiff to `most`
/// bytes.
inline TiffOptions tiff_options(TiffMessage& message, tmsize_t most) {
  TiffOptions options(TIFFOpenOptionsAlloc());
  if (options == nullptr) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_tiff_error, &message);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_tiff_warning, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most);
  return options;
}

}  // namespace holotone::io
#endif
