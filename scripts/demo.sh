#!/bin/bash
# demo.sh PROGRAM FOLDER: makes a hologram of the sample object, looks at it, and writes FOLDER/report.html about it. Every picture is
# made by the program, with the command lines that the report shows.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"
report=report.html
started=$SECONDS
pose=(--turn=-40deg --tilt 20deg --hide --light=-1,1.5,2 --random-phase)

# run NAME ARGUMENTS...: runs the program, keeps what it says of itself in NAME.json, and shows the line here and in the report.
run() {
  local name=$1
  shift
  printf '$ holotone %s\n' "$*"
  say <<< "<pre class=\"line\">\$ holotone $*</pre>"
  "$program" "$@" --json > "$name.json"
}
# value NAME KEY: a figure or a text from NAME.json.
value() { sed -n -e "s/^  \"$2\": \"\(.*\)\",\{0,1\}\$/\1/p" -e "s/^  \"$2\": \([^\",]*\),\{0,1\}\$/\1/p" "$1.json"; }
say() { cat >> $report; }
heading() { say <<< "<h2>$1</h2>"; }
picture() { say <<< "<figure><a href=\"$1\"><img src=\"$1\" alt=\"\"></a><figcaption>$2</figcaption></figure>"; }
row() { say <<< "<tr><td>$1</td><td>$2</td></tr>"; }
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
 iframe { width: 100%; height: 44rem; border: 1px solid var(--line); }
 figure { margin: 1rem 0; } figcaption { font-size: .9rem; opacity: .8; margin-top: .3rem; }
 .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
 .wiggle { position: relative; } .wiggle img + img { position: absolute; top: 0; animation: flip 1.4s steps(1) infinite; }
 @keyframes flip { 50% { visibility: hidden; } }
 .zoom { aspect-ratio: 16 / 9; background: url(teapot.png) 50% 42% / 900% no-repeat; image-rendering: pixelated; }
 pre.line { background: var(--soft); border-left: 3px solid var(--line); padding: .5rem .8rem; white-space: pre-wrap; margin: .6rem 0; }
 table { border-collapse: collapse; } td { border-bottom: 1px solid var(--line); padding: .25rem 1rem .25rem 0; }
</style></head><body>
<h1>A teapot as a hologram</h1>
HTML

say <<'HTML'
<p>The object: points spread evenly over the surface of the Utah teapot, 8&nbsp;mm wide, 20&nbsp;cm behind the light modulator. Points that the
pot itself hides are dropped, the rest are lit from the upper left and get random phases, so that each sends its light to the whole panel.</p>
HTML
run sample sample teapot -o teapot.ply --points 150000
run hologram hologram teapot.ply -o teapot.png --panel holoeye-pluto-2 --wavelength 532nm --distance 20cm --size 8mm \
    "${pose[@]}"
say <<< '<div class="pair">'
picture teapot.png "The hologram: the phase that each of 1920 x 1080 pixels gives the light, black 0 to white 2&pi;."
say <<< '<figure><div class="zoom"></div><figcaption>A ninth of its width, enlarged.</figcaption></figure></div><table>'
row "points shown" "$(value hologram points), and $(value hologram hidden_points) hidden by nearer surface"
row "method" "$(value hologram method), $(value hologram arithmetic), on $(value hologram device)"
row "relative error of the field" "at most $(number .1e "$(value hologram expected_error)"); $(value hologram tolerance) was asked for"
row "Fresnel against spherical wave, at most" "$(number .2f "$(value hologram fresnel_deviation_rad)") rad"
row "the sum over all points" "$(number .2f "$(value hologram compute_s)") s"
row "with reading, hiding, encoding, writing" "$(number .2f "$(value hologram time_s)") s"
say <<< '</table>'

heading "In focus"
say <<'HTML'
<p>What a camera focused 20&nbsp;cm behind the panel sees. Wavelength, pitch and encoding are read from the file. The grain is
speckle, as in every picture made with laser light.</p>
HTML
run focus reconstruct teapot.png -o focus.png --distance 20cm
picture focus.png "Focus at 20 cm: $(value focus method), $(number .2f "$(value focus time_s)") s."

heading "See it yourself"
say <<'HTML'
<p>The page of <code>holotone view</code>, with pictures at nine distances: drag the focus. With a server,
<code>holotone view teapot.png</code>, it computes any distance, pupil and tone.</p>
HTML
run view view teapot.png -o view.html --stops distance=19.2cm:20.8cm:9
say <<< '<iframe src="view.html" title="The hologram in focus at nine distances"></iframe><p><a href="view.html">The page alone.</a></p>'

heading "Through focus"
say <<'HTML'
<p>The pot has depth: the spout is sharp first, then the body, the lid and the handle; far from 20&nbsp;cm nothing is.</p>
HTML
run depth reconstruct teapot.png -o depth.png --sweep 19.6cm:20.4cm:9 --tile-width 640
picture depth.png "19.6 cm to 20.4 cm, nine pictures in $(number .1f "$(value depth time_s)") s."
run sweep reconstruct teapot.png -o sweep.png --sweep 18cm:22cm:9 --tile-width 640
picture sweep.png "18 cm to 22 cm."

heading "With one eye, then with the other"
say <<'HTML'
<p>Light from the panel fills a zone; an eye takes the part that goes through its pupil. Two pupils of 10&nbsp;mm, 20&nbsp;mm apart, half a
metre away, see two perspectives. A smaller pupil sees more of the pot sharp, and coarser speckle.</p>
HTML
run left reconstruct teapot.png -o left.png --distance 20cm --aperture=-10mm,0mm:10mm --viewer 50cm
run right reconstruct teapot.png -o right.png --distance 20cm --aperture=10mm,0mm:10mm --viewer 50cm
run small reconstruct teapot.png -o small.png --distance 20cm --aperture 6mm --viewer 50cm
say <<'HTML'
<div class="pair"><figure class="wiggle"><img src="left.png" alt=""><img src="right.png" alt=""><figcaption>From the left and from the right, in
turn.</figcaption></figure>
HTML
picture small.png "Through a pupil of 6 mm on the axis."
say <<< '</div>'

heading "In colour"
say <<'HTML'
<p>Three holograms for three lasers from the colours of the points, shown one after the other and seen as one.</p>
HTML
run knot sample knot -o knot.ply --points 60000
run rgb hologram knot.ply -o knot_%c.png --rgb 638nm,520nm,450nm --distance 20cm --size 8mm --hide --light=-1,1,2 --random-phase
run colour reconstruct knot_%c.png -o knot.png --distance 20cm
picture knot.png "A trefoil knot: 638, 520 and 450 nm."

heading "This machine"
say <<< "<pre>$("$program" devices)</pre>"
say <<< "<p>$(value hologram software). The demo took $((SECONDS - started)) s after building.</p></body></html>"
printf '\nThe report: %s\n' "file://$PWD/$report"
