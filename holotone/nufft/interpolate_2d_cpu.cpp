// Interpolation in planes, real and complex. A file of its own: its loops take half a minute to compile.
#include <holotone/nufft/interpolate_loops_cpu.hpp>

namespace holotone::nufft {

HOLOTONE_INTERPOLATE(float, 2, 1)
HOLOTONE_INTERPOLATE(float, 2, 2)
HOLOTONE_INTERPOLATE(double, 2, 1)
HOLOTONE_INTERPOLATE(double, 2, 2)

}  // namespace holotone::nufft
