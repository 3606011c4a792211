import {labelled_select, make, segmented} from "./dom.js";
import {allowed_value, default_value, default_values, same_value} from "./control_values.js";
import {value_from_text, value_text, visible_controls} from "./control_values.js";
import {Controls} from "./controls.js";
import {CommandLine, StatusLine, facts_tables, size_text, time_text} from "./pane_parts.js";
import {Hand} from "./hand.js";
import {Rate} from "./rate.js";
import {Requests} from "./requests.js";
import {make_view} from "./views.js";

// One pane: a document (or the pair), one of its views, its controls. bench: the workbench.

const rest_ms = 200;  // after the last change the picture is asked for at rest

export class Pane {
  constructor(bench, name) {
    this.bench = bench;
    this.name = name;
    this.requests = new Requests((message) => bench.source.show(message));
    this.rate = new Rate();
    this.values_of = bench.values_of.get(name) ?? new Map();  // by document
    this.view = null;
    this.hand = new Hand(this);
    this.rest_timer = 0;
    this.build();
  }

  build() {
    this.head = make("div", {class: "pane-head"});
    this.stage = make("div", {class: "stage"});
    this.tools = make("div", {class: "tools", role: "toolbar", "aria-label": "Picture"});
    this.status = new StatusLine();
    this.error = make("p", {class: "error", role: "alert", hidden: true});
    this.command = new CommandLine((text) => this.say(text));
    this.side = make("div", {class: "side"});
    this.facts = make("div", {class: "facts-part"});
    this.element = make("section", {class: "pane", "data-pane": this.name}, this.head, make("div", {class: "pane-body"},
      make("div", {class: "stage-part"}, this.stage, make("div", {class: "under"}, this.tools, this.status.element),
        this.error, this.command.element), this.side));
  }

  get key() {
    return Array.isArray(this.document) ? "pair" : this.document;
  }

  get values() {
    return this.values_of.get(this.key);
  }

  value(name) {
    return this.values[name];
  }

  // Shows a document: an index, or two for the pair. wanted: {view, options} of the URL.
  set_document(document_index, wanted = {}) {
    this.document = document_index;
    this.description = this.bench.describe(document_index);
    if (!this.values_of.has(this.key)) this.values_of.set(this.key, this.first_values());
    this.title = [document_index].flat().map((i) => this.bench.documents[i].name).join(" and ");
    this.element.setAttribute("aria-label", `Pane ${this.name}: ${this.title}`);
    const local = {};
    for (const [name, text] of Object.entries(wanted.options ?? {})) {
      const control = this.description.controls?.[name];
      const value = control ? value_from_text(control, text) : undefined;
      if (value !== undefined) this.values[name] = value;
      else if (!control) local[name] = text;
    }
    const {views} = this.description;
    this.set_view((views.find(({name}) => name === wanted.view) ?? views[0]).name, local);
  }

  // The difference begins with what its first document shows.
  first_values() {
    const own = Array.isArray(this.document) ? this.bench.values_of.get("a")?.get(this.document[0]) : undefined;
    return {...default_values(this.description), ...own};
  }

  set_view(name, local = this.view?.local ?? {}) {
    this.view_description = this.description.views.find((view) => view.name === name);
    this.view?.remove();
    this.view = null;
    this.stage.replaceChildren();
    this.stage.className = `stage ${this.view_description.kind}-stage`;
    this.list_head();
    this.controls = new Controls(this.description, this.view_description, this.values,
      (control, value, rests) => this.change(control, value, rests), () => this.reset());
    this.answer_header = null;
    this.set_error("");
    this.command.set("");
    try {
      this.view = make_view(this.view_description.kind, this.stage, this);
      this.view.local = local;
      this.name_view();
    } catch (error) {
      this.set_error(error.message);
    }
    this.list_tools();
    this.side.replaceChildren(...[this.controls.element, this.view?.panel, this.facts].filter(Boolean));
    this.show_facts();
    this.ask(false);
    this.bench.state_changed();
  }

  name_view() {
    this.view.canvas.setAttribute("aria-label", `${this.view_description.title}, ${this.title}`);
    if (this.view.keys) this.view.canvas.setAttribute("aria-describedby", this.view.keys);
  }

  list_head() {
    const {documents} = this.bench;
    const chosen = [this.document].flat();
    const selects = chosen.map((index, i) => labelled_select(chosen.length > 1 ? `Document ${i + 1}` : "Document",
      documents.map((document, k) => [k, document.name]), index, (next) => {
        const documents_now = chosen.map((old, k) => (k === i ? Number(next) : old));
        this.bench.remember();
        this.set_document(chosen.length > 1 ? documents_now : documents_now[0]);
      }).element);
    const views = this.description.views.map(({name, title}) => [name, title]);
    const row = segmented("View", views, this.view_description.name, (view) => this.set_view(view));
    row.element.hidden = views.length < 2;
    const focused = [...this.head.querySelectorAll("select, input")].indexOf(document.activeElement);
    this.head.replaceChildren(...selects, row.element);
    if (focused >= 0) this.head.querySelectorAll("select, input")[focused]?.focus();
  }

  list_tools() {
    const buttons = (this.view?.actions ?? []).map(({label, name, key, run}) =>
      make("button", {type: "button", onclick: run, "aria-label": name, title: `${name} (${key})`}, label));
    const mode = this.hand.mode_button();
    if (mode) buttons.push(mode);
    this.tools.replaceChildren(...buttons);
    this.tools.hidden = buttons.length === 0;
  }

  show_facts() {
    const facts = [this.document].flat().length > 1 ? [] : this.bench.documents[this.document].facts;
    this.facts.replaceChildren(...facts_tables(this.title, facts, this.answer_header?.facts));
  }

  // A control has a new value. rests: false while it is dragged.
  change(name, value, rests = false) {
    if (!this.take_value(name, value)) {
      if (rests) this.rest();
      return;
    }
    this.moving_now(rests);
    this.bench.value_changed(this, name, this.values[name], rests);
  }

  // Sets a value without asking for a picture; false if nothing changed.
  take_value(name, value) {
    const control = this.description.controls?.[name];
    const allowed = control ? allowed_value(control, value) : undefined;
    if (allowed === undefined || same_value(allowed, this.values[name])) return false;
    this.values[name] = allowed;
    if (control.kind === "place") this.open_pupil(`${name}_diameter`);
    this.controls.set(this.values);
    this.view?.value_changed?.(name, allowed);
    return true;
  }

  // A place has no effect while its diameter is 0: moving it gives it the usual one.
  open_pupil(name) {
    const usual = this.description.controls[name]?.usual;
    if (usual !== undefined && this.values[name] === 0) this.values[name] = usual;
  }

  // The linked pane's control has a new value. Only a control of the same kind follows; a window by its share.
  follow_value(name, value, control, rests) {
    const followed_control = this.description.controls?.[name];
    if (!followed_control || followed_control.kind !== control.kind) return;
    const ratio = (i) => followed_control.value[2 + (i % 2)] / control.value[2 + (i % 2)];
    const followed = followed_control.kind === "window" ? value.map((part, i) => part * ratio(i)) : value;
    if (!this.take_value(name, followed)) return;
    this.controls.set_one(name, this.values[name]);
    if (this.view_description.controls?.includes(name)) this.moving_now(rests);
  }

  // A value set on the picture: also the control that has the focus shows it.
  change_from_view(name, value) {
    this.change(name, value);
    this.controls.set_one(name, this.values[name]);
  }

  reset() {
    const defaults = default_values(this.description);
    for (const name of this.view_description.controls ?? []) {
      if (!this.take_value(name, defaults[name])) continue;
      this.bench.value_changed(this, name, this.values[name], true);
    }
    this.controls.set_all(this.values);
    this.ask(false);
  }

  moving_now(rests) {
    clearTimeout(this.rest_timer);
    this.rest_timer = 0;
    this.ask(!rests);
    if (!rests) this.rest_timer = setTimeout(() => this.rest(), rest_ms);
  }

  // The hand is off the control: the picture at rest is due now.
  rest() {
    if (!this.rest_timer) return;
    clearTimeout(this.rest_timer);
    this.rest_timer = 0;
    this.ask(false);
  }

  ask_again() {
    this.moving_now(false);
  }

  ask(moving) {
    if (!this.view) return;
    const state = {};
    for (const name of this.view_description.controls ?? []) state[name] = this.values[name];
    this.element.classList.toggle("moving", moving);
    this.element.setAttribute("aria-busy", "true");
    this.requests.ask({pane: this.name, document: this.document, view: this.view_description.name, state, moving,
      size: this.view.size});
    if (!moving) this.bench.state_changed();
  }

  async shown(header, payload) {
    const request = this.requests.answered(header.id);
    if (!request) return;
    if (header.opened !== undefined) {
      this.bench.remember();
      this.set_document(header.opened);
      return;
    }
    const {view} = this;
    try {
      if (!await view.show({header, payload, request}) || view !== this.view) return;
    } catch (error) {
      if (view === this.view) this.set_error(error.message);
      return;
    }
    this.set_error("");
    this.answer_header = header;
    this.rate.count();
    this.status.set("size", size_text(header));
    this.status.set("time", header.compute_ms === undefined ? "" : `computed in ${time_text(header.compute_ms)}`);
    this.show_view_state();
    if (request.moving) {
      this.status.set("rate", this.rate.text());
    } else if (!this.requests.pending) {
      this.at_rest(header);
    }
  }

  at_rest(header) {
    this.element.setAttribute("aria-busy", "false");
    this.show_facts();
    this.status.set("rate", "");
    this.rate = new Rate();
    const psnr = (header.facts ?? []).filter(([name]) => name.startsWith("PSNR")).map((fact) => `, ${fact.join(" ")}`);
    this.say(`${this.view_description.title}, ${this.title}: picture at rest${psnr.join("")}`);
  }

  // A request failed. The picture before stays.
  failed({id, message}) {
    if (!this.requests.answered(id)) return;
    this.element.setAttribute("aria-busy", "false");
    this.set_error(message);
  }

  set_error(text) {
    this.error.hidden = !text;
    if (this.error.textContent !== text) this.error.textContent = text;
  }

  // The view's own state moved: pan, zoom, turn, inks.
  moved() {
    this.show_view_state();
    this.bench.view_moved(this);
  }

  show_view_state() {
    this.status.set("zoom", this.view?.zoom_text ?? "");
    const command = this.answer_header?.command ?? "";
    this.command.set(command && command + (this.view?.command_options ?? ""));
  }

  follow_view(other) {
    if (!this.view || this.view_description.kind !== other.view_description.kind) return;
    this.view.follow(other.view);
    this.show_view_state();
  }

  say(text) {
    this.bench.say(text);
  }

  read_out(text) {
    this.status.set("readout", text);
  }

  // The first visible control of a kind, with its name; undefined if the view has none.
  visible_control(kind, wanted_name) {
    const name = visible_controls(this.description, this.view_description, this.values)
      .find((each) => this.description.controls[each].kind === kind && (!wanted_name || each === wanted_name));
    return name && {name, ...this.description.controls[name]};
  }

  window_control() {
    const control = this.visible_control("window");
    if (!control) throw new Error(`${this.view_description.title}: expected a control of kind "window", got none`);
    return control;
  }

  // Options of the URL: controls that are not at their default, and the view's own state.
  get options() {
    const options = {};
    for (const name of this.view_description.controls ?? []) {
      const control = this.description.controls?.[name];
      if (!control || same_value(default_value(control), this.values[name])) continue;
      options[name] = value_text(this.values[name]);
    }
    return {...options, ...this.view?.local};
  }

  thumbnail_url(entry) {
    return this.bench.thumbnails.url(this.document, entry);
  }

  want_thumbnails(entries, size, done) {
    this.bench.thumbnails.want(this.document, entries, size, done);
  }

  open_entry(entry) {
    this.say(`Opening ${entry}`);
    this.requests.ask({pane: this.name, document: this.document, view: "entry", state: {entry}, moving: false,
      size: this.view.size});
  }

  // The list of documents is new. changed: which of them have other contents.
  documents_changed(changed) {
    const own = [this.document].flat();
    for (const [key, values] of this.values_of) this.values_of.set(key, this.kept_values(key, values));
    if (own.every((i) => changed[i] === false)) {
      this.description = this.bench.describe(this.document);
      this.list_head();
      return;
    }
    const wanted = {view: this.view_description.name, options: this.view?.local};
    this.requests.stop();
    this.set_document(own.every((i) => i < changed.length) ? this.document : 0, wanted);
  }

  // The values that the document's controls still allow; defaults for the others.
  kept_values(key, values) {
    const description = key === "pair" ? this.description : this.bench.documents[key];
    const kept = default_values(description ?? {});
    for (const [name, control] of Object.entries(description?.controls ?? {})) {
      kept[name] = allowed_value(control, values[name]) ?? kept[name];
    }
    return kept;
  }

  remove() {
    clearTimeout(this.rest_timer);
    this.requests.stop();
    this.view?.remove();
    this.element.remove();
    this.bench.source.close(this.name);
  }
}
