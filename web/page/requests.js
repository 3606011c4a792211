// The requests of one pane: the newest state wins. While a control moves at most one request is under way, and the
// newest state goes out when its answer comes. Every other request goes out at once; the server then drops the older.

const patience_ms = 2000;  // after that a moving request no longer holds back the next
let last_id = 0;

export class Requests {
  constructor(send) {
    this.send = send;
    this.current = null;
    this.waiting = null;
    this.timer = 0;
  }

  ask(request) {
    if (this.current && this.must_wait(request)) {
      this.waiting = request;
    } else {
      this.start(request);
    }
  }

  must_wait(request) {
    const {current} = this;
    return current.moving && current.view === request.view && String(current.document) === String(request.document) &&
      performance.now() - this.sent_ms < patience_ms;
  }

  start(request) {
    this.waiting = null;
    last_id += 1;
    this.current = {...request, id: last_id};
    this.sent_ms = performance.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.waiting && this.start(this.waiting), patience_ms);
    this.send({type: "show", ...this.current});
  }

  // The request that the answer or error `id` belongs to; null for one that came too late.
  answered(id) {
    if (!this.current || id !== this.current.id) return null;
    const request = this.current;
    this.current = null;
    if (this.waiting) this.start(this.waiting);
    return request;
  }

  get pending() {
    return this.current !== null;
  }

  // Nothing is under way any more: the pane, the connection or the document is gone.
  stop() {
    clearTimeout(this.timer);
    this.current = this.waiting = null;
  }
}
