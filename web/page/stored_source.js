import {visible_controls, same_value} from "./control_values.js";

// Answers from the page itself: a stored page holds the documents and an answer for each stop of the controls.

export class StoredSource {
  constructor(stored) {
    this.stored = stored;
  }

  // The source of this page, or null if it has no stored answers.
  static here() {
    const element = document.getElementById("stored");
    return element ? new StoredSource(JSON.parse(element.textContent)) : null;
  }

  open(handlers) {
    this.handlers = handlers;
    handlers.connection(true);
    handlers.documents(this.stored.documents);
  }

  show(message) {
    queueMicrotask(() => {  // as from a server: never before show returns
      const answer = this.find(message);
      const {pane, id, moving} = message;
      if (!answer) {
        this.handlers.error({pane, id, message: "This page has no stored picture for these values."});
        return;
      }
      const payload = Uint8Array.from(atob(answer.data), (letter) => letter.charCodeAt(0));
      this.handlers.shown({...answer.header, pane, id, moving}, payload);
    });
  }

  find({document: documents, view: view_name, state}) {
    const {documents: descriptions, pair} = this.stored.documents;
    const description = Array.isArray(documents) ? pair : descriptions[documents];
    const view = description.views.find(({name}) => name === view_name);
    const names = view ? visible_controls(description, view, state) : Object.keys(state);
    const controls = description.controls ?? {};
    return this.stored.answers.find((answer) =>
      String(answer.document) === String(documents) && answer.view === view_name &&
      names.every((name) => same_value(answer.state[name] ?? controls[name]?.value, state[name])));
  }

  close() {}
}
