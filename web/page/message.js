// A binary answer: uint32 little-endian length of the JSON header, the header, the payload.

export function decode_answer(buffer) {
  if (buffer.byteLength < 4) throw new Error(`answer: expected 4 bytes or more, got ${buffer.byteLength}`);
  const length = new DataView(buffer).getUint32(0, true);
  if (length > buffer.byteLength - 4) {
    throw new Error(`answer: expected a header of ${length} bytes, got ${buffer.byteLength - 4}`);
  }
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return {header, payload: new Uint8Array(buffer, 4 + length)};
}

export function payload_json(payload) {
  return JSON.parse(new TextDecoder().decode(payload));
}

// Cuts typed arrays off a payload one after the other; each is a copy, because the payload is not aligned.
export class PayloadReader {
  constructor(payload) {
    this.payload = payload;
    this.offset = 0;
  }

  take(Type, count) {
    const bytes = count * Type.BYTES_PER_ELEMENT;
    if (this.offset + bytes > this.payload.byteLength) {
      throw new Error(`answer: expected ${this.offset + bytes} bytes or more, got ${this.payload.byteLength}`);
    }
    const part = this.payload.slice(this.offset, this.offset + bytes);
    this.offset += bytes;
    return new Type(part.buffer);
  }

  align(bytes) {
    this.offset = Math.ceil(this.offset / bytes) * bytes;
  }
}
