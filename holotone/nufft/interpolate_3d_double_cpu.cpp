// Interpolation in volumes in float64, real and complex. A file of its own: its loops take half a minute to compile.
#include <holotone/nufft/interpolate_loops_cpu.hpp>

namespace holotone::nufft {

HOLOTONE_INTERPOLATE(double, 3, 1)
HOLOTONE_INTERPOLATE(double, 3, 2)

}  // namespace holotone::nufft
