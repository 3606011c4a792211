import {PayloadReader} from "./message.js";
import {rgb_of} from "./gl.js";

// The dots of a halftone, sorted by ink: {count, page, inks: [{name, colour, rgb, first, count}], places, radii}.

const default_radius = 0.5;

export function read_dots({header, payload}) {
  const {count} = header;
  const reader = new PayloadReader(payload);
  const places = reader.take(Float32Array, 2 * count);
  const radii = header.has_radius ? reader.take(Float32Array, count)
    : new Float32Array(count).fill(header.radius ?? default_radius);
  const classes = header.has_class ? reader.take(Uint8Array, count) : new Uint8Array(count);
  const inks = header.inks.map(([name, colour]) => ({name, colour, rgb: rgb_of(colour), first: 0, count: 0}));
  for (const ink of classes) {
    if (ink >= inks.length) throw new Error(`dots: class: expected less than ${inks.length}, got ${ink}`);
    inks[ink].count += 1;
  }
  let first = 0;
  for (const ink of inks) {
    ink.first = first;
    first += ink.count;
  }
  return {count, page: header.page, inks, ...by_ink(inks, places, radii, classes)};
}

function by_ink(inks, places, radii, classes) {
  if (inks.length < 2) return {places, radii};
  const next = inks.map((ink) => ink.first);
  const sorted = {places: new Float32Array(places.length), radii: new Float32Array(radii.length)};
  classes.forEach((ink, i) => {
    const slot = next[ink]++;
    sorted.places[2 * slot] = places[2 * i];
    sorted.places[2 * slot + 1] = places[2 * i + 1];
    sorted.radii[slot] = radii[i];
  });
  return sorted;
}
