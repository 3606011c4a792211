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
"$program" halftone focus.png -o stipple.png --dots 12000 --invert --gamma 2 --dpi 288 --one-bit --device cpu

"$program" sample knot -o "$work/knot.ply" --points 60000
"$program" hologram "$work/knot.ply" -o "$work/knot_%c.png" --rgb 638nm,520nm,450nm "${pose[@]}"
"$program" reconstruct "$work/knot_%c.png" -o knot.png --sweep 20cm:20cm:1 --tile-width 480
"$program" smoe fit knot.png -o "$work/knot.smoe" --components 2000 --device cpu
"$program" smoe render "$work/knot.smoe" -o mixture.png --crop 180,60,120,68 --size 480x272
