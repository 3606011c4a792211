import {decode_answer} from "./message.js";

// Answers from the server that sent this page, through a WebSocket. Connects again after a loss.
// handlers: {documents(message, anew), shown(header, payload), error(message), notice(text), connection(connected)}.

const first_pause_ms = 250;
const longest_pause_ms = 8000;

export class LiveSource {
  constructor(address) {
    this.address = address;
    this.pause_ms = first_pause_ms;
    this.socket = null;
  }

  static here() {
    const address = new URL("socket", location.href.split("#")[0]);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    return new LiveSource(address.href);
  }

  open(handlers) {
    this.handlers = handlers;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.pause_ms = first_pause_ms;
      this.socket = socket;
      this.anew = true;
      this.send({type: "open"});
      this.handlers.connection(true);
    };
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = () => {
      this.socket = null;
      this.handlers.connection(false);
      setTimeout(() => this.connect(), this.pause_ms);
      this.pause_ms = Math.min(2 * this.pause_ms, longest_pause_ms);
    };
  }

  receive(data) {
    try {
      if (typeof data !== "string") {
        const {header, payload} = decode_answer(data);
        this.handlers.shown(header, payload);
        return;
      }
      const message = JSON.parse(data);
      if (message.type === "documents") {
        this.handlers.documents(message, this.anew);
        this.anew = false;
      }
      if (message.type === "error") this.handlers.error(message);
      else if (message.type === "notice") this.handlers.notice(message.message);
    } catch (error) {
      this.handlers.notice(error.message);
    }
  }

  // Without a connection the message is dropped: a pane asks again when the documents come.
  send(message) {
    if (this.socket && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  show(message) {
    this.send(message);
  }

  close(pane) {
    this.send({type: "close", pane});
  }
}
