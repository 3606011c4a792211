#include <bench/still_codecs.hpp>

namespace bench {

std::vector<StillCodec> still_codecs() {
  std::vector<StillCodec> codecs;
  codecs.push_back(jpeg_codec());
#if HOLOTONE_JPEG_XL
  codecs.push_back(jpeg_xl_codec());
#endif
#if HOLOTONE_WEBP
  codecs.push_back(webp_codec());
#endif
#if HOLOTONE_AVIF
  codecs.push_back(avif_codec());
#endif
  return codecs;
}

}  // namespace bench
