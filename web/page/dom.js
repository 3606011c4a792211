// Elements of the page.

const svg_space = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

// make("button", {type: "button", onclick: run}, "Copy"): an element with attributes, listeners and children.
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function make_svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svg_space, tag), attributes, children);
}

let identifiers = 0;
export function new_id(prefix) {
  identifiers += 1;
  return `${prefix}-${identifiers}`;
}

// A row of radio buttons that look like one divided button. choices: [[value, label], ...].
export function segmented(label, choices, value, chosen) {
  const name = new_id("choice");
  const element = make("div", {class: "segmented", role: "radiogroup", "aria-label": label});
  for (const [choice, text] of choices) {
    const input = make("input", {type: "radio", name, value: choice, onchange: () => chosen(choice)});
    input.checked = choice === value;
    element.append(make("label", {}, input, make("span", {}, text)));
  }
  const set = (next) => {
    for (const input of element.querySelectorAll("input")) input.checked = input.value === String(next);
  };
  return {element, set};
}

// A select with a label that is visible or, with hidden_label, for screen readers only.
export function labelled_select(label, choices, value, chosen, hidden_label = false) {
  const id = new_id("select");
  const select = make("select", {id, onchange: () => chosen(select.value)});
  for (const [choice, text] of choices) select.append(make("option", {value: choice}, text));
  select.value = String(value);
  const name = make("label", {for: id, class: hidden_label ? "unseen" : undefined}, label);
  return {element: make("span", {class: "select"}, name, select), set: (next) => (select.value = String(next))};
}

export function table(caption, rows) {
  const body = make("tbody");
  for (const [name, value] of rows) {
    body.append(make("tr", {}, make("th", {scope: "row"}, name), make("td", {}, String(value))));
  }
  return make("table", {class: "facts"}, make("caption", {}, caption), body);
}

// Runs `work` at most once a frame.
export function once_a_frame(work) {
  let waits = 0;
  return () => {
    if (waits) return;
    waits = requestAnimationFrame(() => {
      waits = 0;
      work();
    });
  };
}

export async function copy_text(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {  // no secure context, or no permission
    const area = make("textarea", {class: "unseen", "aria-hidden": "true"});
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
