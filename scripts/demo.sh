#!/bin/bash
# demo.sh PROGRAM FOLDER: makes a hologram of the sample object, looks at it, and writes FOLDER/report.html about it. Every picture is
# made by the program, with the command lines that the report shows.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"
report=report.html
started=$SECONDS

# run NAME ARGUMENTS...: runs the program, keeps what it says of itself in NAME.json, and shows the line here and in the report.
run() {
  local name=$1
  shift
  printf '$ holotone %s\n' "$*"
  printf '<pre class="line">$ holotone %s</pre>\n' "$*" >> $report
  "$program" "$@" --json > "$name.json"
}
# value NAME KEY: a figure from NAME.json, without quotes.
value() { sed -n "s/^  \"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1.json" | head -n 1; }
say() { cat >> $report; }
heading() { printf '<h2>%s</h2>\n' "$1" >> $report; }
picture() { printf '<figure><a href="%s"><img src="%s" alt="%s"></a><figcaption>%s</figcaption></figure>\n' "$1" "$1" "$2" "$2" >> $report; }
row() { printf '<tr><td>%s</td><td>%s</td></tr>\n' "$1" "$2" >> $report; }
number() { printf "%$1" "$2"; }

cat > $report <<'HTML'
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holotone: a teapot as a hologram</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
 :root { color-scheme: light dark; --line: #8884; --soft: #8881; }
 body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
 h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
 img { max-width: 100%; height: auto; display: block; background: #000; }
 figure { margin: 1rem 0; } figcaption { font-size: .9rem; opacity: .8; margin-top: .3rem; }
 .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
 .zoom { aspect-ratio: 16 / 9; background: url(teapot.png) 50% 42% / 900% no-repeat; image-rendering: pixelated; }
 pre.line { background: var(--soft); border-left: 3px solid var(--line); padding: .5rem .8rem; overflow-x: auto; margin: .6rem 0; }
 table { border-collapse: collapse; } td { border-bottom: 1px solid var(--line); padding: .25rem 1rem .25rem 0; }
</style></head><body>
<h1>A teapot as a hologram</h1>
HTML

say <<'HTML'
<p>The object: points spread evenly over the surface of the Utah teapot, 8&nbsp;mm wide, 20&nbsp;cm behind the light modulator. Points that the
pot itself hides are dropped, the rest are lit from the upper left and get random phases, so that each sends its light to the whole panel.</p>
HTML
run sample sample teapot -o teapot.ply --points 60000
run hologram hologram teapot.ply -o teapot.png --panel holoeye-pluto-2 --wavelength 532nm --distance 20cm --size 8mm \
    --hide --light=-1,1,2 --random-phase
say <<'HTML'
<div class="pair">
HTML
picture teapot.png "The hologram: the phase that each of 1920 x 1080 pixels gives the light, black 0 to white 2&pi;."
printf '<figure><div class="zoom"></div><figcaption>A ninth of its width, enlarged.</figcaption></figure></div>\n' >> $report
printf '<table>\n' >> $report
row "points shown" "$(value hologram points), $(value hologram hidden_points) hidden by nearer surface"
row "method" "$(value hologram method), $(value hologram arithmetic), on $(value hologram device)"
row "relative error of the field" "at most $(number .1e "$(value hologram expected_error)") (asked for: $(value hologram tolerance))"
row "Fresnel against spherical wave, at most" "$(number .2f "$(value hologram fresnel_deviation_rad)") rad"
row "the sum over all points" "$(number .2f "$(value hologram compute_s)") s"
row "with reading, hiding, encoding, writing" "$(number .2f "$(value hologram time_s)") s"
printf '</table>\n' >> $report

heading "In focus"
say <<'HTML'
<p>What a camera focused 20&nbsp;cm behind the panel sees. Wavelength, pitch and encoding are read from the file. The grain is
speckle, as in every picture made with laser light.</p>
HTML
run focus reconstruct teapot.png -o focus.png --distance 20cm
picture focus.png "Reconstruction at 20 cm, $(value focus method), $(number .2f "$(value focus time_s)") s."

heading "Through focus"
say <<'HTML'
<p>The pot has depth: spout, body and handle come into focus one after the other, and far from 20&nbsp;cm nothing does.</p>
HTML
run near_sweep reconstruct teapot.png -o depth.png --sweep 19.6cm:20.4cm:9 --tile-width 640
picture depth.png "19.6 cm to 20.4 cm."
run sweep reconstruct teapot.png -o sweep.png --sweep 18cm:22cm:9 --tile-width 640
picture sweep.png "18 cm to 22 cm."

heading "With one eye, then with the other"
say <<'HTML'
<p>Light from the panel fills a zone; an eye takes the part that goes through its pupil. Two pupils of 4&nbsp;mm, 24&nbsp;mm apart, half a metre away:
two perspectives, and the greater depth of field of a smaller opening.</p>
<div class="pair">
HTML
run left reconstruct teapot.png -o left.png --distance 20cm --aperture=-12mm,0mm:4mm --viewer 50cm
picture left.png "From the left."
run right reconstruct teapot.png -o right.png --distance 20cm --aperture=12mm,0mm:4mm --viewer 50cm
picture right.png "From the right."
printf '</div>\n' >> $report

heading "In colour"
say <<'HTML'
<p>Three holograms for three lasers from the colours of the points, shown one after the other and seen as one.</p>
HTML
run knot sample knot -o knot.ply --points 60000
run rgb hologram knot.ply -o knot_%c.png --rgb 638nm,520nm,450nm --distance 20cm --size 8mm --hide --light=-1,1,2 --random-phase
run colour reconstruct knot_%c.png -o knot.png --distance 20cm
picture knot.png "A trefoil knot, 638, 520 and 450 nm."

heading "This machine"
printf '<pre>%s</pre>\n' "$("$program" devices)" >> $report
printf '<p>%s. The demo took %d s.</p></body></html>\n' "$(value hologram software)" $((SECONDS - started)) >> $report
printf '\nThe report: %s\n' "file://$PWD/$report"
