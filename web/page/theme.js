// Light or dark: as the system has it, or as chosen here. The choice is kept in the browser, where it allows that.

const key = "holotone-theme";

export function start_theme(select) {
  select.value = read_theme();
  apply_theme(select.value);
  select.addEventListener("change", () => {
    apply_theme(select.value);
    try {
      localStorage.setItem(key, select.value);
    } catch {
      // the choice then holds for this page only
    }
  });
}

function read_theme() {
  try {
    const kept = localStorage.getItem(key);
    return ["light", "dark"].includes(kept) ? kept : "system";
  } catch {
    return "system";
  }
}

function apply_theme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
