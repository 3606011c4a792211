// Thumbnails of a folder's entries: the visible ones, a few at a time, kept as object URLs.

const lanes = ["t0", "t1", "t2", "t3"];  // panes of the protocol
const max_kept = 600;
let thumbnail_id = 0;

export class Thumbnails {
  // send(message) asks the source.
  constructor(send) {
    this.send = send;
    this.kept = new Map();  // "document/entry" -> URL, or null if there is none
    this.running = new Map();  // lane -> {id, key, wanted}
    this.waiting = [];
  }

  // The entries that are on screen now; done(entry, url) when one comes. Replaces what waits.
  want(document_index, entries, size, done) {
    const key = (entry) => `${document_index}/${entry}`;
    this.waiting = entries.map((entry) => ({document: document_index, entry, key: key(entry), size, done}));
    this.start();
  }

  url(document_index, entry) {
    return this.kept.get(`${document_index}/${entry}`);
  }

  start() {
    for (const lane of lanes) {
      if (this.running.has(lane)) continue;
      const busy = new Set([...this.running.values()].map(({wanted}) => wanted.key));
      const next = this.waiting.findIndex(({key}) => !this.kept.has(key) && !busy.has(key));
      if (next < 0) return;
      const [wanted] = this.waiting.splice(next, 1);
      thumbnail_id += 1;
      this.running.set(lane, {id: thumbnail_id, wanted});
      this.send({type: "show", pane: lane, id: thumbnail_id, document: wanted.document, view: "thumbnail",
        state: {entry: wanted.entry}, moving: false, size: wanted.size});
    }
  }

  has_lane(pane) {
    return lanes.includes(pane);
  }

  shown(header, payload) {
    this.end(header, URL.createObjectURL(new Blob([payload], {type: header.media})));
  }

  failed(message) {
    this.end(message, null);
  }

  end({pane, id}, url) {
    const run = this.running.get(pane);
    if (!run || run.id !== id) return;
    this.running.delete(pane);
    this.kept.set(run.wanted.key, url);
    if (this.kept.size > max_kept) this.forget(this.kept.keys().next().value);
    if (url) run.wanted.done(run.wanted.entry, url);
    this.start();
  }

  forget(key) {
    const url = this.kept.get(key);
    if (url) URL.revokeObjectURL(url);
    this.kept.delete(key);
  }

  // The connection or the documents are new.
  restart() {
    this.running.clear();
    for (const key of [...this.kept.keys()]) this.forget(key);
  }
}
