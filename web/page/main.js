import {LiveSource} from "./live_source.js";
import {StoredSource} from "./stored_source.js";
import {start_theme} from "./theme.js";
import {Workbench} from "./workbench.js";

const named = [...document.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]);
const parts = Object.fromEntries(named);
const text_fields = "input:not([type=range], [type=radio], [type=checkbox]), select";

start_theme(parts.theme);
parts.help_button.addEventListener("click", () => parts.help.showModal());
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof Element && event.target.matches(text_fields);
  if (event.key === "?" && !typing && !parts.help.open) parts.help.showModal();
});
new Workbench(StoredSource.here() ?? LiveSource.here(), parts).open();
