import {make, once_a_frame} from "./dom.js";
import {gl_attribute, gl_buffer, gl_program, webgl} from "./gl.js";
import {listen_to_gestures} from "./gestures.js";
import {PayloadReader} from "./message.js";

// Points or triangles with WebGL2, turned about the vertical axis and then tilted, as `holotone hologram --turn --tilt`
// does: +turn moves the front to the right, +tilt tips the top toward the viewer.

const degrees_per_pixel = 0.4;
const max_tilt = 90;
const min_zoom = 0.2;
const max_zoom = 40;

// The scene's sphere has radius 1; the eye is 4 away. Depth: -1 at a distance of 0.7 eye distances, +1 at 1.3.
const scene_vertex = `
in vec3 place; in vec3 colour;
uniform vec3 middle; uniform float radius, dot_size; uniform mat3 turned; uniform vec2 stretch;
out vec3 tint, at;
void main() {
  at = turned * ((place - middle) / radius);
  float away = (4.0 - at.z) / 4.0;
  gl_Position = vec4(at.xy * stretch, 3.3333 * away - 3.0333, away);
  gl_PointSize = max(1.0, dot_size / away);
  tint = colour;
}`;
const point_fragment = `
in vec3 tint, at;
uniform float dot_size;
out vec4 light;
void main() {
  if (dot_size > 3.0 && length(gl_PointCoord - 0.5) > 0.5) discard;
  light = vec4(tint * mix(0.4, 1.0, clamp(0.5 + 0.5 * at.z, 0.0, 1.0)), 1.0);
}`;
const surface_fragment = `
in vec3 tint, at;
out vec4 light;
void main() {
  vec3 normal = normalize(cross(dFdx(at), dFdy(at)));
  light = vec4(tint * (0.25 + 0.75 * abs(dot(normal, normalize(vec3(0.3, 0.4, 0.85))))), 1.0);
}`;
const plain_colour = [0.85, 0.87, 0.89];

export class SceneView {
  constructor(stage, host) {
    this.host = host;
    this.scene = null;
    this.turn = this.tilt = 0;
    this.zoom = 1;
    this.canvas = make("canvas", {tabindex: 0, role: "application", "aria-roledescription": "scene"});
    stage.append(this.canvas);
    this.gl = webgl(this.canvas, host.description.kind === "mesh");
    if (!this.gl) throw new Error("scene: expected a browser with WebGL2, got one without");
    this.prepare();
    this.draw_soon = once_a_frame(() => this.canvas.isConnected && this.draw());
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(stage);
    this.resize();
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      if (this.scene) this.upload();
      this.draw_soon();
    });
    listen_to_gestures(this.canvas, {
      drag: (dx, dy) => this.rotate(dx * this.degrees, dy * this.degrees),
      arrow: (dx, dy) => this.rotate(dx * degrees_per_pixel, dy * degrees_per_pixel),
      zoom: (factor) => this.zoom_by(factor),
      key: (key) => this.move(() => this.reset(key === "0")),
      end: () => host.rest(),
    });
  }

  get degrees() {
    return degrees_per_pixel / (window.devicePixelRatio || 1);
  }

  get keys() {
    return "scene-keys";
  }

  get actions() {
    return [
      {label: "−", name: "Zoom out", key: "-", run: () => this.zoom_by(0.8)},
      {label: "+", name: "Zoom in", key: "+", run: () => this.zoom_by(1.25)},
      {label: "Front", name: "Front view", key: "0", run: () => this.move(() => this.reset(true))},
    ];
  }

  reset(front) {
    this.zoom = 1;
    if (front) this.turn = this.tilt = 0;
  }

  zoom_by(factor) {
    this.move(() => (this.zoom = Math.min(Math.max(this.zoom * factor, min_zoom), max_zoom)));
  }

  rotate(turn, tilt) {
    this.move(() => {
      this.turn = ((this.turn + turn + 540) % 360) - 180;
      this.tilt = Math.min(Math.max(this.tilt + tilt, -max_tilt), max_tilt);
    });
  }

  move(change) {
    change();
    this.draw_soon();
    this.host.moved();
    this.host.read_out(`turn ${this.turn.toFixed(0)}°, tilt ${this.tilt.toFixed(0)}°`);
  }

  prepare() {
    const {gl} = this;
    const attributes = ["place", "colour"];
    this.points = gl_program(gl, scene_vertex, point_fragment, attributes);
    this.surface = gl_program(gl, scene_vertex, surface_fragment, attributes);
  }

  async show({header, payload}) {
    const reader = new PayloadReader(payload);
    const scene = {...header};
    scene.places = reader.take(Float32Array, 3 * header.points);
    if (header.has_colour) {
      scene.colours = reader.take(Uint8Array, 3 * header.points);
      reader.align(4);
    }
    if (header.triangles) scene.corners = reader.take(Uint32Array, 3 * header.triangles);
    scene.middle = [0, 1, 2].map((axis) => (header.low[axis] + header.high[axis]) / 2);
    scene.radius = Math.hypot(...[0, 1, 2].map((axis) => (header.high[axis] - header.low[axis]) / 2)) || 1;
    this.scene = scene;
    this.upload();
    this.draw_soon();
    return true;
  }

  upload() {
    const {gl, scene} = this;
    for (const buffer of this.buffers ?? []) gl.deleteBuffer(buffer);
    const places = gl_buffer(gl, gl.ARRAY_BUFFER, scene.places);
    gl_attribute(gl, 0, places, 3, gl.FLOAT);
    this.buffers = [places];
    if (scene.colours) {
      const colours = gl_buffer(gl, gl.ARRAY_BUFFER, scene.colours);
      gl_attribute(gl, 1, colours, 3, gl.UNSIGNED_BYTE, {normalized: true});
      this.buffers.push(colours);
    } else {
      gl.disableVertexAttribArray(1);
      gl.vertexAttrib3f(1, ...plain_colour);
    }
    if (scene.corners) this.buffers.push(gl_buffer(gl, gl.ELEMENT_ARRAY_BUFFER, scene.corners));
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * ratio));
    this.draw_soon();
  }

  draw() {
    const {gl, canvas, scene} = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!scene) return;
    gl.enable(gl.DEPTH_TEST);
    const {program, uniforms} = scene.corners ? this.surface : this.points;
    const extent = Math.min(canvas.width, canvas.height) * 0.48 * this.zoom;  // of the sphere's radius, in pixels
    gl.useProgram(program);
    gl.uniform3f(uniforms.middle, ...scene.middle);
    gl.uniform1f(uniforms.radius, scene.radius);
    gl.uniform2f(uniforms.stretch, (2 * extent) / canvas.width, (2 * extent) / canvas.height);
    gl.uniformMatrix3fv(uniforms.turned, false, rotation(this.turn, this.tilt));
    const ratio = window.devicePixelRatio || 1;
    gl.uniform1f(uniforms.dot_size, Math.min(Math.max((2 * extent) / Math.sqrt(scene.points), ratio), 8 * ratio));
    if (scene.corners) gl.drawElements(gl.TRIANGLES, 3 * scene.triangles, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(gl.POINTS, 0, scene.points);
  }

  get zoom_text() {
    return `${Number((100 * this.zoom).toPrecision(3))} %`;
  }

  get size() {
    return [this.canvas.width, this.canvas.height];
  }

  // Options of `holotone hologram` that turn the scene like this.
  get command_options() {
    const option = (name, angle) => (Math.round(angle) ? ` ${name} ${Math.round(angle)}deg` : "");
    return option("--turn", this.turn) + option("--tilt", this.tilt);
  }

  get local() {
    const local = {};
    if (this.turn) local.turn = String(Number(this.turn.toFixed(1)));
    if (this.tilt) local.tilt = String(Number(this.tilt.toFixed(1)));
    if (this.zoom !== 1) local.zoom = String(Number(this.zoom.toPrecision(4)));
    return local;
  }

  set local({turn, tilt, zoom}) {
    this.turn = Number(turn) || 0;
    this.tilt = Number(tilt) || 0;
    this.zoom = Number(zoom) > 0 ? Number(zoom) : 1;
    this.draw_soon();
  }

  follow({turn, tilt, zoom}) {
    Object.assign(this, {turn, tilt, zoom});
    this.draw_soon();
  }

  remove() {
    this.observer.disconnect();
    this.canvas.remove();
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

// Columns of tilt (about x) times turn (about y); angles in degrees.
export function rotation(turn, tilt) {
  const [a, b] = [turn, tilt].map((angle) => (angle * Math.PI) / 180);
  const [ca, sa, cb, sb] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
  return [ca, sb * sa, -cb * sa, 0, cb, sb, sa, -sb * ca, cb * ca];
}
