// WebGL2: programs and buffers.

export function webgl(canvas, antialias) {
  return canvas.getContext("webgl2", {antialias, powerPreference: "high-performance"});
}

function shader(gl, kind, source) {
  const compiled = gl.createShader(kind);
  gl.shaderSource(compiled, `#version 300 es\nprecision highp float;\n${source}`);
  gl.compileShader(compiled);
  if (!gl.getShaderParameter(compiled, gl.COMPILE_STATUS) && !gl.isContextLost()) {
    throw new Error(`WebGL: ${gl.getShaderInfoLog(compiled)}`);
  }
  return compiled;
}

// {program, uniforms: {name: location}}; `attributes` are bound to the locations 0, 1, 2...
export function gl_program(gl, vertex, fragment, attributes) {
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl, gl.VERTEX_SHADER, vertex));
  gl.attachShader(program, shader(gl, gl.FRAGMENT_SHADER, fragment));
  attributes.forEach((name, location) => gl.bindAttribLocation(program, location, name));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`WebGL: ${gl.getProgramInfoLog(program)}`);
  }
  const uniforms = {};
  for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); ++i) {
    const {name} = gl.getActiveUniform(program, i);
    uniforms[name] = gl.getUniformLocation(program, name);
  }
  return {program, uniforms};
}

export function gl_buffer(gl, target, data) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(target, buffer);
  gl.bufferData(target, data, gl.STATIC_DRAW);
  return buffer;
}

// Feeds attribute `location` from a buffer.
export function gl_attribute(gl, location, buffer, size, type, {normalized = false, offset = 0} = {}) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(location);
  gl.vertexAttribPointer(location, size, type, normalized, 0, offset);
}

export function rgb_of(colour) {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16) / 255);
}
