import {make} from "./dom.js";
import {gl_attribute, gl_buffer, gl_program, webgl} from "./gl.js";
import {CameraView} from "./camera_view.js";
import {read_dots} from "./dots.js";

// A halftone's dots with WebGL2: a point for each dot, antialiased discs, inks multiply on white paper. Each ink can
// be switched off. Without WebGL2 a 2-D canvas draws the dots.

// A dot smaller than a pixel becomes a disc of half a pixel's radius with the same ink.
const dot_vertex = `
in vec2 place; in float radius;
uniform vec2 origin, canvas; uniform float scale;
out float pixels, ink;
void main() {
  float wanted = radius * scale;
  pixels = max(wanted, 0.5);
  ink = min(1.0, wanted * wanted / (pixels * pixels));
  vec2 at = (origin + place * scale) / canvas * 2.0 - 1.0;
  gl_Position = vec4(at.x, -at.y, 0.0, 1.0);
  gl_PointSize = 2.0 * pixels + 1.0;
}`;
const dot_fragment = `
in float pixels, ink;
uniform vec3 colour;
out vec4 light;
void main() {
  float cover = clamp(pixels + 0.5 - length(gl_PointCoord - 0.5) * (2.0 * pixels + 1.0), 0.0, 1.0) * ink;
  light = vec4(mix(vec3(1.0), colour, cover), 1.0);
}`;

export class DotsView extends CameraView {
  constructor(stage, host) {
    super(stage, host);
    this.dots = null;
    this.hidden = new Set();
    this.wanted_inks = null;
    this.gl = webgl(this.canvas, false);
    if (this.gl) this.prepare();
    else this.context = this.canvas.getContext("2d");
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      if (this.dots) this.upload();
      this.draw_soon();
    });
    this.legend = make("div", {class: "inks", role: "group", "aria-label": "Inks"});
    this.panel = this.legend;
  }

  prepare() {
    this.dot = gl_program(this.gl, dot_vertex, dot_fragment, ["place", "radius"]);
  }

  async show(answer) {
    this.dots = read_dots(answer);
    this.set_page(...this.dots.page);
    if (this.gl) this.upload();
    this.choose_inks(this.wanted_inks);
    this.draw_soon();
    return true;
  }

  upload() {
    const {gl, dots} = this;
    gl.deleteBuffer(this.place_buffer ?? null);
    gl.deleteBuffer(this.radius_buffer ?? null);
    this.place_buffer = gl_buffer(gl, gl.ARRAY_BUFFER, dots.places);
    this.radius_buffer = gl_buffer(gl, gl.ARRAY_BUFFER, dots.radii);
    const largest = dots.radii.reduce((most, radius) => Math.max(most, radius), 0);
    const [, point_limit] = gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE);
    this.camera.max_scale = Math.min(64, (point_limit - 1) / (2 * largest));  // a dot is one point at every zoom
  }

  // Shows only the inks of these names; null: as before.
  choose_inks(names) {
    this.wanted_inks = names;
    if (!this.dots) return;
    if (names) this.hidden = new Set(this.dots.inks.map(({name}) => name).filter((name) => !names.includes(name)));
    this.wanted_inks = null;
    this.list_inks();
  }

  list_inks() {
    this.legend.replaceChildren(...this.dots.inks.map((ink) => {
      const swatch = make("span", {class: "ink", "aria-hidden": "true"});
      swatch.style.background = ink.colour;
      const box = make("input", {type: "checkbox", onchange: () => {
        if (box.checked) this.hidden.delete(ink.name);
        else this.hidden.add(ink.name);
        this.draw_soon();
        this.host.moved();
      }});
      box.checked = !this.hidden.has(ink.name);
      return make("label", {class: "check"}, box, swatch, make("span", {}, ink.name),
        make("span", {class: "number-text"}, `${ink.count.toLocaleString("en")} dots`));
    }));
  }

  get visible_inks() {
    return this.dots.inks.filter(({name, count}) => count > 0 && !this.hidden.has(name));
  }

  draw() {
    if (this.gl) this.draw_fast();
    else this.draw_plain();
  }

  draw_fast() {
    const {gl, camera, dot: {program, uniforms}, canvas} = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.dots) return;
    const [left, top] = camera.origin;
    const size = [camera.width * camera.scale, camera.height * camera.scale];
    gl.enable(gl.SCISSOR_TEST);  // the paper
    gl.scissor(Math.round(left), Math.round(canvas.height - top - size[1]), Math.round(size[0]), Math.round(size[1]));
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.DST_COLOR, gl.ZERO);
    gl.uniform2f(uniforms.origin, left, top);
    gl.uniform2f(uniforms.canvas, canvas.width, canvas.height);
    gl.uniform1f(uniforms.scale, camera.scale);
    for (const ink of this.visible_inks) {
      gl.uniform3f(uniforms.colour, ...ink.rgb);
      gl_attribute(gl, 0, this.place_buffer, 2, gl.FLOAT, {offset: 8 * ink.first});
      gl_attribute(gl, 1, this.radius_buffer, 1, gl.FLOAT, {offset: 4 * ink.first});
      gl.drawArrays(gl.POINTS, 0, ink.count);
    }
  }

  draw_plain() {
    const {context, camera, canvas} = this;
    context.globalCompositeOperation = "source-over";
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (!this.dots) return;
    const [left, top] = camera.origin;
    const {scale} = camera;
    context.fillStyle = "#ffffff";
    context.fillRect(left, top, camera.width * scale, camera.height * scale);
    context.globalCompositeOperation = "multiply";
    for (const {first, count, colour} of this.visible_inks) {
      context.fillStyle = colour;
      context.beginPath();
      for (let i = first; i < first + count; ++i) {
        const radius = this.dots.radii[i] * scale;
        const x = left + this.dots.places[2 * i] * scale;
        const y = top + this.dots.places[2 * i + 1] * scale;
        if (x < -radius || y < -radius || x > canvas.width + radius || y > canvas.height + radius) continue;
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
      context.fill();
    }
  }

  read_out(x, y) {
    const [width, height] = this.dots?.page ?? [0, 0];
    return x < 0 || y < 0 || x >= width || y >= height ? "" : `x ${x.toFixed(2)}, y ${y.toFixed(2)}`;
  }

  get local() {
    const local = super.local;
    const inks = this.dots ? this.dots.inks.map(({name}) => name).filter((name) => !this.hidden.has(name))
      : this.wanted_inks;
    if (inks && (!this.dots || this.hidden.size)) local.inks = inks.join(",");
    return local;
  }

  set local(local) {
    super.local = local;
    this.hidden.clear();
    this.choose_inks(local.inks?.split(",") ?? null);
  }

  follow(other) {
    super.follow(other);
    if (!this.dots || String([...this.hidden]) === String([...other.hidden])) return;
    this.hidden = new Set(other.hidden);
    this.list_inks();
  }

  remove() {
    super.remove();
    this.gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
