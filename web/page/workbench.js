import {make, segmented} from "./dom.js";
import {to_hash, parse_hash} from "./state.js";
import {Pane} from "./pane.js";
import {Thumbnails} from "./thumbnails.js";

// The whole page: one pane, two side by side, or the difference of two documents; links between panes; the URL.

const panes_of = {one: ["a"], two: ["a", "b"], difference: ["d"]};

export class Workbench {
  // parts: the elements of index.html by id
  constructor(source, parts) {
    this.source = source;
    this.parts = parts;
    this.documents = [];
    this.pair = null;
    this.panes = new Map();
    this.values_of = new Map();  // of panes that are not on the screen, by name
    this.thumbnails = new Thumbnails((message) => source.show(message));
    this.wanted = parse_hash(location.hash);
    this.written_hash = location.hash;
    this.linked = this.wanted.linked;
    this.parts.linked.checked = this.linked;
    this.parts.linked.addEventListener("change", () => this.set_linked(this.parts.linked.checked));
    window.addEventListener("hashchange", () => this.read_hash());
  }

  open() {
    this.source.open({
      documents: (message, anew) => this.documents_came(message, anew),
      shown: (header, payload) => this.shown(header, payload),
      error: (message) => this.failed(message),
      notice: (text) => this.notice(text),
      connection: (connected) => this.connection(connected),
    });
  }

  // anew: the server may have forgotten what was asked.
  documents_came({software, documents, pair}, anew = true) {
    const first = this.documents.length === 0;
    const changed = documents.map(({name, version}, i) =>
      anew || name !== this.documents[i]?.name || version !== this.documents[i].version);
    this.documents = documents;
    this.pair = pair;
    this.parts.software.textContent = software;
    if (documents.some(({kind}, i) => kind === "folder" && changed[i])) this.thumbnails.restart();
    document.title = documents.length ? `${documents[0].name} – Holotone` : "Holotone";
    this.parts.empty.hidden = documents.length > 0;
    if (!documents.length) return;
    this.list_layouts();
    if (first) {
      this.set_layout(this.allowed_layout(this.wanted.layout), this.wanted.panes);
    } else {
      for (const pane of this.panes.values()) pane.documents_changed(changed);
    }
  }

  allowed_layout(layout) {
    if (layout === "difference" && (!this.pair || this.documents.length < 2)) layout = undefined;
    const pictures = this.documents.filter(({kind}) => kind !== "folder").length;
    return layout ?? (pictures === 2 && this.documents.length === 2 ? "two" : "one");
  }

  list_layouts() {
    const layouts = [["one", "One"], ["two", "Two"]];
    if (this.pair && this.documents.length > 1) layouts.push(["difference", "Difference"]);
    this.layout_choice = segmented("Panes", layouts, this.layout, (layout) => this.set_layout(layout));
    this.parts.layouts.replaceChildren(this.layout_choice.element);
  }

  describe(document_index) {
    return Array.isArray(document_index) ? this.describe_pair(document_index) : this.documents[document_index];
  }

  // The difference of two documents has the controls that both have in the views that are compared.
  describe_pair(indices) {
    if (!this.pair) return null;
    const documents = indices.map((index) => this.documents[index]);
    const named = documents.map(({views, compared}) => views.find(({name}) => name === compared)?.controls ?? []);
    const names = named[0].filter((name) => named[1].includes(name));
    return {...this.pair, controls: {...documents[0].controls, ...this.pair.controls},
      views: this.pair.views.map((view) => ({...view, controls: [...view.controls, ...names]}))};
  }

  // wanted: the URL's panes by name.
  set_layout(layout, wanted = {}) {
    const before = Object.fromEntries([...this.panes].map(([name, pane]) => [name, pane.document]));
    this.layout = layout;
    this.layout_choice.set(layout);
    this.parts.link_part.hidden = layout !== "two";
    this.parts.panes.className = `panes ${layout}`;
    for (const [name, pane] of [...this.panes]) {
      if (panes_of[layout].includes(name)) continue;
      this.values_of.set(name, pane.values_of);
      pane.remove();
      this.panes.delete(name);
    }
    for (const name of panes_of[layout]) {
      if (this.panes.has(name) && !wanted[name]) continue;
      const pane = this.panes.get(name) ?? new Pane(this, name);
      this.panes.set(name, pane);
      this.parts.panes.append(pane.element);
      pane.set_document(this.first_document(name, wanted[name]?.document, before), wanted[name]);
    }
    if (this.linked && !wanted.b) this.align_panes();
    this.state_changed();
  }

  // The document that a new pane shows: the URL's, or one that suits the panes before.
  first_document(name, wanted, before) {
    const exists = (index) => index < this.documents.length;
    const last = this.documents.length - 1;
    const first = before.a ?? before.d?.[0] ?? 0;
    const second = before.b ?? before.d?.[1] ?? (first === 0 ? Math.min(1, last) : 0);
    const other = second === first ? last - first : second;
    if (name === "d") return Array.isArray(wanted) && wanted.every(exists) ? wanted : [first, other];
    if (Number.isInteger(wanted) && exists(wanted)) return wanted;
    return name === "a" ? first : second;
  }

  set_linked(linked) {
    this.linked = linked;
    this.parts.linked.checked = linked;
    if (linked) this.align_panes();
    this.state_changed();
  }

  // Pane b takes over what it shares with pane a.
  align_panes() {
    const [a, b] = [this.panes.get("a"), this.panes.get("b")];
    if (!a || !b) return;
    for (const name of a.view_description.controls ?? []) {
      if (a.description.controls?.[name]) b.follow_value(name, a.value(name), a.description.controls[name], true);
    }
    b.follow_view(a);
  }

  others(pane) {
    return this.linked ? [...this.panes.values()].filter((other) => other !== pane) : [];
  }

  value_changed(pane, name, value, rests) {
    for (const other of this.others(pane)) other.follow_value(name, value, pane.description.controls[name], rests);
  }

  view_moved(pane) {
    for (const other of this.others(pane)) other.follow_view(pane);
    this.state_changed();
  }

  // A pane turns to another document: the browser's Back returns.
  remember() {
    this.write_hash();
    history.pushState(null, "", location.hash);
  }

  shown(header, payload) {
    if (this.thumbnails.has_lane(header.pane)) this.thumbnails.shown(header, payload);
    else this.panes.get(header.pane)?.shown(header, payload);
  }

  failed(message) {
    if (this.thumbnails.has_lane(message.pane)) this.thumbnails.failed(message);
    else if (this.panes.has(message.pane)) this.panes.get(message.pane).failed(message);
    else this.notice(message.message);
  }

  connection(connected) {
    this.parts.offline.hidden = connected;
    if (!connected) this.say("The connection is lost; connecting again");
  }

  notice(text) {
    const note = make("p", {}, text);
    this.parts.notices.append(note);
    setTimeout(() => note.remove(), 6000);
  }

  say(text) {
    this.parts.live.textContent = text;
  }

  // Writes the URL a moment later, so that dragging does not write it at every step.
  state_changed() {
    clearTimeout(this.hash_timer);
    this.hash_timer = setTimeout(() => this.write_hash(), 250);
  }

  write_hash() {
    const panes = Object.fromEntries([...this.panes].map(([name, pane]) =>
      [name, {document: pane.document, view: pane.view_description.name, options: pane.options}]));
    this.written_hash = to_hash({layout: this.layout, linked: this.linked, panes});
    if (location.hash !== this.written_hash) history.replaceState(null, "", this.written_hash);
  }

  // The reader changed the URL, or followed a link to another state.
  read_hash() {
    if (location.hash === this.written_hash || !this.documents.length) return;
    const state = parse_hash(location.hash);
    this.linked = state.linked;
    this.parts.linked.checked = state.linked;
    for (const pane of this.panes.values()) pane.values_of.clear();
    this.values_of.clear();
    this.set_layout(this.allowed_layout(state.layout), state.panes);
    // The URL is the state: nothing is to be written over an entry of the history that comes next.
    clearTimeout(this.hash_timer);
    this.written_hash = location.hash;
  }
}
