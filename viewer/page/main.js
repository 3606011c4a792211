import {LiveSource} from "./live_source.js";
import {StoredSource} from "./stored_source.js";
import {start_theme} from "./theme.js";
import {Workbench} from "./workbench.js";

const parts = Object.fromEntries([...document.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));

start_theme(parts.theme);
parts.help_button.addEventListener("click", () => parts.help.showModal());
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof Element && event.target.matches("input:not([type=range], [type=radio], [type=checkbox]), select");
  if (event.key === "?" && !typing && !parts.help.open) parts.help.showModal();
});
new Workbench(StoredSource.here() ?? LiveSource.here(), parts).open();
