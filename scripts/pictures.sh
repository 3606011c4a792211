#!/bin/bash
# pictures.sh PROGRAM: makes the pictures of README.md, docs/pictures/*.png, with the program.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../docs/pictures"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pose=(--hide --light 1,1,1 --random-phase)

"$program" sample teapot -o "$work/teapot.ply" --points 150000
"$program" hologram "$work/teapot.ply" -o "$work/teapot.png" --turn -40deg --tilt 20deg "${pose[@]}"
"$program" hologram "$work/teapot.ply" -o hologram.png --resolution 480x270 --pitch 8um --turn -40deg --tilt 20deg "${pose[@]}"  # its middle
look() { "$program" reconstruct "$work/teapot.png" -o "$@"; }
look focus.png --sweep 20cm:20cm:1 --tile-width 480
look left.png --sweep 20cm:20cm:1 --tile-width 480 --aperture -10mm,0mm:10mm
look right.png --sweep 20cm:20cm:1 --tile-width 480 --aperture 10mm,0mm:10mm
look sweep.png --sweep 19.2cm:20.8cm:9 --tile-width 240
look "$work/focus.png"
"$program" halftone "$work/focus.png" -o stipple.png --dots 12000 --invert --gamma 2 --one-bit --device cpu

# The corner of the light of a point 5 mm behind a panel of 1 um.
printf 'x,y,z,amplitude\n-0.00133,-0.00133,-0.005,1\n' >"$work/point.csv"
edge() {
  "$program" hologram "$work/point.csv" -o "$work/edge.h5" --resolution 320x320 --pitch 1um --keep-coordinates "${@:2}"
  "$program" reconstruct "$work/edge.h5" -o "$1" --sweep 0mm:0mm:1 --tile-width 240
}
edge edge_fresnel.png --wave fresnel
edge edge_exact.png --wave spherical --method fast

# A print of a teapot of 2 mm, 3 mm behind it: three minutes on two cores.
"$program" sample teapot -o "$work/teapot.ply" --points 20000
for wave in fresnel spherical; do
  "$program" hologram "$work/teapot.ply" -o "$work/print.png" --size 2mm --resolution 10000x10000 --pitch 0.5um \
    --distance 3mm --encoding amplitude --bits 1 --reference-angle 10deg --wave $wave
  "$program" reconstruct "$work/print.png" -o "print_${wave/spherical/exact}.png" --sweep 3mm:3mm:1 --tile-width 320
done

"$program" sample knot -o "$work/knot.ply" --points 60000
"$program" hologram "$work/knot.ply" -o "$work/knot_%c.png" --rgb 638nm,520nm,450nm "${pose[@]}"
"$program" reconstruct "$work/knot_%c.png" -o knot.png --sweep 20cm:20cm:1 --tile-width 480
"$program" smoe fit knot.png -o "$work/knot.smoe" --components 2000 --device cpu
"$program" smoe render "$work/knot.smoe" -o mixture.png --crop 180,60,120,68 --size 480x272

"$program" scene dice -o "$work/small_dice" --resolution 480
cp "$work/small_dice/truth/middle.png" dice.png
"$program" scene dice -o "$work/dice"
"$program" hologram --views "$work/dice/views/view_%v_%u.png" --camera-pitch 0.511mm --viewer 12mm:3mm --distance 30.3mm \
  --size 6.13mm --pitch 750nm --panel-size 6.144mm --hogel 1024 --wavelength 635nm -o "$work/dice.h5"
"$program" quantize "$work/dice.h5" -o "$work/slm.png" --bits 8 --viewer 12mm:3mm
"$program" reconstruct "$work/slm.png" -o eyes.png --viewer 12mm:1mm --sweep-viewer -1,0mm:1,0mm:3 --output-pitch 12um \
  --tile-width 320

"$program" optimize "$work/dice/image.png" -o "$work/optimized.png" --resolution 480x480 --pitch 8um --distance 10cm --signal-region 90%
"$program" reconstruct "$work/optimized.png" -o optimized.png
"$program" spots --array 10x10 --spacing 10um --centre 60um,20um --focal-length 4mm --magnification 0.4 --wavelength 1064nm \
  -o "$work/spots.png" --picture spots.png
awk 'BEGIN { print "x_um,y_um,intensity"; for (n = 6; n <= 18; n += 6) for (k = 0; k < n; ++k)
  printf "%.4f,%.4f,%g\n", 30 + n * cos(6.2831853 * k / n), n * sin(6.2831853 * k / n), n == 12 ? 0.5 : 1 }' \
  >"$work/traps.csv"
"$program" spots "$work/traps.csv" --wavelength 1064nm --focal-length 2mm --magnification 0.3 --pupil 4.6mm \
  --refractive-index 1.33 --source gaussian:4mm -o "$work/traps.png" --picture spots_traps.png
"$program" spots --array 20x20 --spacing 100um --lattice hexagonal --centre 3mm,1mm --focal-length 100mm \
  --wavelength 1030nm --zero-order 0.1 --fill-factor 0.93 -o "$work/marking.png" --picture spots_marking.png
stack() {
  "$program" optimize --image "$work/dice/image.png" --depth "$work/dice/depth.png" --depth-range 9cm,11cm --layers 4 \
    --pupil 8mm --resolution 480x480 --pitch 8um --signal-region 90% -o "$work/$1" "${@:3}"
  "$program" reconstruct "$work/$1" -o "stack_$2.png" --sweep 92.3mm:109.2mm:2 --tile-width 320
  "$program" reconstruct "$work/$1" -o "stack_$2_pupil.png" --sweep 92.3mm:109.2mm:2 --tile-width 320 --viewer 50cm \
    --aperture 4mm,0mm:8mm
}
stack stack.png smooth --iterations 40
stack stack_%t.png random --phase random --subframes 8

panel() { "$program" panel "$1" -o "$2" --resolution "${size:-240x240}" --pitch 8um "${@:3}"; }
panel grating panel_grating.png --period 24 --angle 30deg
panel lens panel_lens.png --focal-length 10cm
panel zernike panel_zernike.png --term 2,2:0.5 --term 4,0:-0.2
panel axicon panel_axicon.png --period 24
panel vortex panel_vortex.png --charge 3
panel checkerboard panel_checkerboard.png --cell 20
size=480x270 panel chart panel_chart.png
"$program" panel vortex -o panel_fork.png --charge 3 --add panel_grating.png
"$program" panel lens -o "$work/sum.png" --focal-length 10cm --add panel_fork.png
"$program" reconstruct "$work/sum.png" -o panel_ring.png

"$program" sample teapot -o "$work/few.ply"
"$program" hologram "$work/few.ply" -o "$work/narrow.h5" --resolution 1024x1024 --pitch 2um --distance 8cm --size 2.5mm \
  --random-phase
one_bit() { "$program" quantize "$work/narrow.h5" -o "$work/$1.png" --bits 1 --viewer 36mm:2.4mm --hogel 256 "${@:2}"; }
one_bit on
one_bit off --reference-angle auto
eye() { "$program" reconstruct "$work/$1" -o "one_bit_$2.png" --viewer 36mm:2.4mm --picture-size 2.7mm --output-pitch 15um; }
eye narrow.h5 field
eye on.png on
eye off.png off
