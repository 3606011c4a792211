import {labelled_select, make, once_a_frame} from "./dom.js";
import {payload_json} from "./message.js";

// A folder's entries as thumbnails, by kind. Only the rows on screen exist, so that 10 000 entries stay quick.

const min_card_width = 148;
const card_height = 156;
const rows_around = 2;
const thumbnail_size = [256, 192];
const units = ["B", "kB", "MB", "GB", "TB"];

export function bytes_text(bytes) {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power]}`;
}

export class FolderView {
  constructor(stage, host) {
    this.host = host;
    this.entries = this.shown = [];
    this.more = 0;
    this.kind = this.text = "";
    this.current = 0;
    this.tools = make("div", {class: "folder-tools"});
    this.grid = make("div", {class: "folder-grid", role: "list", "aria-label": "Entries"});
    this.scroller = make("div", {class: "folder-scroller", onscroll: once_a_frame(() => this.draw())}, this.grid);
    this.element = make("div", {class: "folder"}, this.tools, this.scroller);
    stage.append(this.element);
    this.canvas = this.scroller;
    this.scroller.setAttribute("role", "group");
    this.observer = new ResizeObserver(once_a_frame(() => this.draw()));
    this.observer.observe(stage);
    this.grid.addEventListener("keydown", (event) => this.press(event));
  }

  get actions() {
    return [];
  }

  async show({payload}) {
    const {entries, more} = payload_json(payload);
    this.entries = entries;
    this.more = more ?? 0;
    this.list_tools();
    this.filter();
    return true;
  }

  list_tools() {
    const counts = new Map();
    for (const {kind} of this.entries) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const kinds = [...counts].map(([kind, count]) => [kind, `${kind} (${count})`]);
    kinds.unshift(["", `All kinds (${this.entries.length})`]);
    const search = make("input", {type: "search", "aria-label": "Name contains", placeholder: "Name contains",
      value: this.text, oninput: () => {
        this.text = search.value;
        this.filter();
        this.host.moved();
      }});
    this.count = make("span", {class: "count", role: "status"});
    this.tools.replaceChildren(search, labelled_select("Kind", kinds, this.kind, (kind) => {
      this.kind = kind;
      this.filter();
      this.host.moved();
    }, true).element, this.count);
  }

  filter() {
    const text = this.text.toLowerCase();
    this.shown = this.entries.filter(({name, kind}) =>
      (!this.kind || kind === this.kind) && name.toLowerCase().includes(text));
    this.current = 0;
    this.scroller.scrollTop = 0;
    const [shown, all, more] = [this.shown.length, this.entries.length, this.more].map((n) => n.toLocaleString("en"));
    this.count.textContent = `${shown} of ${all}${this.more ? `; ${more} more are not listed` : ""}`;
    this.grid.replaceChildren();
    this.draw();
  }

  get columns() {
    return Math.max(1, Math.floor(this.scroller.clientWidth / min_card_width));
  }

  draw() {
    const {columns} = this;
    const width = this.scroller.clientWidth / columns;
    const rows = Math.ceil(this.shown.length / columns);
    this.grid.style.height = `${rows * card_height}px`;
    const first_row = Math.max(0, Math.floor(this.scroller.scrollTop / card_height) - rows_around);
    const last_row = Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / card_height) + rows_around;
    const first = first_row * columns;
    const last = Math.min(this.shown.length, last_row * columns);
    const old = new Map([...this.grid.children].map((card) => [Number(card.dataset.index), card]));
    for (const [index, card] of old) {
      if (index < first || index >= last) card.remove();
    }
    for (let index = first; index < last; ++index) {
      const card = old.get(index) ?? this.card(index);
      card.style.left = `${(index % columns) * width}px`;
      card.style.width = `${width}px`;
      card.style.top = `${Math.floor(index / columns) * card_height}px`;
      card.firstChild.tabIndex = index === this.current ? 0 : -1;
      if (!card.isConnected) this.grid.append(card);
    }
    this.want_thumbnails(first, last);
  }

  card(index) {
    const {name, kind, bytes} = this.shown[index];
    const picture = make("span", {class: "thumbnail", "aria-hidden": "true"}, make("span", {class: "kind-tile"}, kind));
    const open = () => this.host.open_entry(name);
    const button = make("button", {type: "button", class: "card", title: name, onclick: open}, picture,
      make("span", {class: "card-name"}, name),
      make("span", {class: "card-note"}, bytes === undefined ? kind : `${kind}, ${bytes_text(bytes)}`));
    const card = make("div", {class: "card-place", role: "listitem", "aria-setsize": this.shown.length,
      "aria-posinset": index + 1, "data-index": index}, button);
    const url = this.host.thumbnail_url(name);
    if (url) this.set_thumbnail(card, url);
    return card;
  }

  set_thumbnail(card, url) {
    card.querySelector(".thumbnail").replaceChildren(make("img", {src: url, alt: "", decoding: "async"}));
  }

  want_thumbnails(first, last) {
    const names = this.shown.slice(first, last).filter(({thumbnail}) => thumbnail).map(({name}) => name);
    this.host.want_thumbnails(names, thumbnail_size, (name, url) => {
      for (const card of this.grid.children) {
        if (this.shown[Number(card.dataset.index)]?.name === name) this.set_thumbnail(card, url);
      }
    });
  }

  press(event) {
    const page = this.columns * Math.max(1, Math.floor(this.scroller.clientHeight / card_height));
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns, PageUp: -page,
      PageDown: page, Home: -Infinity, End: Infinity}[event.key];
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.current = Math.min(Math.max(this.current + step, 0), this.shown.length - 1);
    const top = Math.floor(this.current / this.columns) * card_height;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    const bottom = top + card_height - this.scroller.clientHeight;
    if (bottom > this.scroller.scrollTop) this.scroller.scrollTop = bottom;
    this.draw();
    this.grid.querySelector(`[data-index="${this.current}"] button`)?.focus({preventScroll: true});
  }

  get size() {
    return thumbnail_size;
  }

  get local() {
    const local = {};
    if (this.text) local.search = this.text;
    if (this.kind) local.kind = this.kind;
    return local;
  }

  set local({search = "", kind = ""}) {
    this.text = search;
    this.kind = kind;
    if (!this.entries.length) return;
    this.list_tools();
    this.filter();
  }

  follow() {}

  remove() {
    this.observer.disconnect();
    this.element.remove();
  }
}
