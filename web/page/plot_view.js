import {make, make_svg, once_a_frame} from "./dom.js";
import {payload_json} from "./message.js";
import {Axis, tick_text} from "./plot_axis.js";

// Line plots as SVG, with axes, a legend and a cursor that reads the values.

const margin = {left: 64, right: 20, top: 16, bottom: 48};

export class PlotView {
  constructor(stage, host) {
    this.host = host;
    this.plot = null;
    this.at = null;  // x of the cursor
    this.svg = make_svg("svg", {class: "plot", role: "application", "aria-roledescription": "plot", tabindex: 0});
    this.legend = make("ul", {class: "legend"});
    this.element = make("div", {class: "plot-part"}, this.svg, this.legend);
    stage.append(this.element);
    this.canvas = this.svg;  // the part that is named for screen readers
    this.draw_soon = once_a_frame(() => this.draw());
    this.observer = new ResizeObserver(this.draw_soon);
    this.observer.observe(stage);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.set_cursor(null));
    this.svg.addEventListener("keydown", (event) => this.press(event));
  }

  get keys() {
    return "plot-keys";
  }

  get actions() {
    return [];
  }

  async show({payload}) {
    this.plot = payload_json(payload);
    this.legend.replaceChildren(...this.plot.series.map(({name}, i) =>
      make("li", {}, make_svg("svg", {class: "swatch", viewBox: "0 0 28 8", "aria-hidden": "true"},
        make_svg("path", {class: `line line-${i % 6}`, d: "M0 4H28"})), name)));
    this.draw_soon();
    return true;
  }

  draw() {
    const box = this.svg.getBoundingClientRect();
    if (!this.plot || box.width < 80 || box.height < 80) return;
    const {width, height} = box;
    const {series, logarithmic} = this.plot;
    const all = (name) => series.flatMap((line) => line[name]);
    this.x = new Axis(all("x"), margin.left, width - margin.right);
    this.y = new Axis(all("y"), height - margin.bottom, margin.top, logarithmic).rounded();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.cursor = make_svg("line", {class: "cursor", y1: margin.top, y2: height - margin.bottom});
    this.svg.replaceChildren(this.grid(width, height), ...series.map((line, i) => this.line(line, i)), this.cursor);
    this.set_cursor(this.at);
  }

  grid(width, height) {
    const group = make_svg("g", {class: "grid"});
    const bottom = height - margin.bottom;
    for (const tick of this.x.ticks) {
      const x = this.x.position(tick);
      group.append(make_svg("line", {x1: x, x2: x, y1: margin.top, y2: bottom}),
        make_svg("text", {x, y: bottom + 18, "text-anchor": "middle"}, tick_text(tick)));
    }
    for (const tick of this.y.ticks) {
      const y = this.y.position(tick);
      group.append(make_svg("line", {x1: margin.left, x2: width - margin.right, y1: y, y2: y}),
        make_svg("text", {x: margin.left - 8, y: y + 4, "text-anchor": "end"}, tick_text(tick)));
    }
    const middle = (margin.top + bottom) / 2;
    const centre = (margin.left + width - margin.right) / 2;
    const title = (text, x, y, more) => make_svg("text", {class: "axis", x, y, "text-anchor": "middle", ...more}, text);
    group.append(title(this.plot.x, centre, height - 8),
      title(this.plot.y, 16, middle, {transform: `rotate(-90 16 ${middle})`}));
    return group;
  }

  // Values that a logarithmic axis cannot show are gaps.
  line({x, y}, i) {
    let path = "";
    let pen_down = false;
    x.forEach((value, k) => {
      const usable = Number.isFinite(y[k]) && (!this.y.logarithmic || y[k] > 0);
      const at = () => `${this.x.position(value).toFixed(2)} ${this.y.position(y[k]).toFixed(2)}`;
      if (usable) path += (pen_down ? "L" : "M") + at();
      pen_down = usable;
    });
    return make_svg("path", {class: `line line-${i % 6}`, d: path || "M0 0"});
  }

  point(event) {
    if (!this.x) return;
    const box = this.svg.getBoundingClientRect();
    this.set_cursor(this.x.value_at(event.clientX - box.left));
  }

  press(event) {
    if (!this.x || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = (this.x.high - this.x.low) / 100;
    const at = this.at ?? (this.x.low + this.x.high) / 2;
    if (event.key === "ArrowLeft") this.set_cursor(at - step);
    else if (event.key === "ArrowRight") this.set_cursor(at + step);
    else if (event.key === "Escape") this.set_cursor(null);
    else return;
    event.preventDefault();
    this.host.say(this.values_text());
  }

  set_cursor(at) {
    if (!this.cursor) return;
    this.at = at === null ? null : Math.min(Math.max(at, this.x.low), this.x.high);
    this.cursor.classList.toggle("off", this.at === null);
    const x = this.at === null ? 0 : this.x.position(this.at);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.host.read_out(this.values_text());
  }

  values_text() {
    if (this.at === null) return "";
    const values = this.plot.series.filter(({x}) => x.length).map(({name, x, y}) => {
      const far = (k) => Math.abs(x[k] - this.at);
      const nearest = x.reduce((best, _, k) => (far(k) < far(best) ? k : best), 0);
      return `${name} ${Number(y[nearest]).toPrecision(4)}`;
    });
    return `${this.plot.x} ${Number(this.at.toPrecision(4))}: ${values.join(", ")}`;
  }

  get size() {
    const box = this.element.getBoundingClientRect();
    return [Math.max(1, Math.round(box.width)), Math.max(1, Math.round(box.height))];
  }

  get local() {
    return {};
  }

  set local(_) {}

  follow(other) {
    this.set_cursor(other.at);
  }

  remove() {
    this.observer.disconnect();
    this.element.remove();
  }
}
