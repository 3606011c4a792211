// The state of the page as the URL's hash: #layout=two&linked=no&a.document=0&a.view=light&a.distance=0.21
// Everything of a pane but its document and view is text by name; the pane gives it to its controls or its view.

const layouts = ["one", "two", "difference"];
const pane_names = ["a", "b", "d"];

export function parse_hash(hash) {
  const state = {layout: undefined, linked: true, panes: {a: empty_pane(), b: empty_pane(), d: empty_pane()}};
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const [pane, ...rest] = name.split(".");
    if (name === "layout" && layouts.includes(value)) state.layout = value;
    else if (name === "linked") state.linked = value !== "no";
    else if (pane_names.includes(pane) && rest.length) read_pane(state.panes[pane], rest.join("."), value);
  }
  return state;
}

function empty_pane() {
  return {document: undefined, view: undefined, options: {}};
}

function read_pane(pane, name, value) {
  if (name === "document") {
    const numbers = value.split(",").map(Number);
    if (numbers.every((number) => Number.isInteger(number) && number >= 0)) {
      pane.document = numbers.length > 1 ? numbers.slice(0, 2) : numbers[0];
    }
  } else if (name === "view") {
    pane.view = value;
  } else {
    pane.options[name] = value;
  }
}

// panes: {a: {document, view, options: {name: text}}, ...}, only those on screen.
export function to_hash({layout, linked, panes}) {
  const parts = [["layout", layout]];
  if (!linked) parts.push(["linked", "no"]);
  for (const [name, pane] of Object.entries(panes)) {
    parts.push([`${name}.document`, String(pane.document)], [`${name}.view`, pane.view]);
    for (const [option, text] of Object.entries(pane.options)) parts.push([`${name}.${option}`, text]);
  }
  return `#${parts.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&")}`;
}

function encode(text) {
  return encodeURIComponent(text).replaceAll("%2C", ",");
}
