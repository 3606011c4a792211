import {copy_text, make, table} from "./dom.js";

// The fixed parts of a pane around its view: status line, error, command, facts.

export class CommandLine {
  constructor(say) {
    this.code = make("code", {tabindex: 0, "aria-label": "Command that makes this picture"});
    this.button = make("button", {type: "button", onclick: async () => {
      const copied = await copy_text(this.code.textContent);
      say(copied ? "Command copied" : "The browser does not allow copying: select the command");
      this.button.textContent = copied ? "Copied" : "Copy";
      setTimeout(() => (this.button.textContent = "Copy"), 1500);
    }, "aria-label": "Copy command"}, "Copy");
    this.element = make("div", {class: "command", hidden: true}, this.code, this.button);
  }

  set(text) {
    this.element.hidden = !text;
    if (this.code.textContent !== text) this.code.textContent = text;
  }
}

export class StatusLine {
  constructor() {
    this.size = make("span", {class: "size"});
    this.zoom = make("span", {class: "zoom"});
    this.time = make("span", {class: "time"});
    this.rate = make("span", {class: "rate"});
    this.readout = make("span", {class: "readout"});
    this.element = make("div", {class: "status-line"}, this.size, this.zoom, this.time, this.rate, this.readout);
  }

  set(part, text) {
    if (this[part].textContent !== text) this[part].textContent = text;
  }
}

export function size_text({width, height, count, points, triangles}) {
  const number = (value, name) => `${value.toLocaleString("en")} ${name}`;
  if (width && height) return `${width} × ${height}`;
  if (count !== undefined) return number(count, "dots");
  if (triangles) return number(triangles, "triangles");
  return points ? number(points, "points") : "";
}

export function time_text(milliseconds) {
  const [value, unit] = milliseconds < 1000 ? [milliseconds, "ms"] : [milliseconds / 1000, "s"];
  return `${Number(value.toPrecision(3))} ${unit}`;
}

export function facts_tables(document_title, document_facts, answer_facts) {
  const tables = [];
  if (answer_facts?.length) tables.push(table("Picture", answer_facts));
  if (document_facts?.length) tables.push(table(document_title, document_facts));
  return tables;
}
