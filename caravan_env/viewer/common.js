"use strict";
// What every page of ours does: elements, seat marks, the board's layout, light and dark.
const common = (() => {
  const root = document.documentElement;

  const make = (name, text, css) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (css) element.className = css;
    return element;
  };
  const dot = seat => {
    const mark = make("i");
    if (seat >= 0) mark.style.background = `var(--seat${seat})`;
    return mark;
  };
  const number = x => String(x).replace("-", "\u2212");

  // A narrow place gets the tall layout, if the drawing offers one.
  function layOut(board) {
    const svg = board.firstElementChild;
    if (!svg) return;
    const tall = svg.dataset.tallViewbox;
    if (!svg.dataset.wideViewbox) svg.dataset.wideViewbox = svg.getAttribute("viewBox");
    const narrow = Boolean(tall) && board.clientWidth < 640;
    svg.classList.toggle("tall", narrow);
    const box = narrow ? tall : svg.dataset.wideViewbox;
    svg.setAttribute("viewBox", box);
    const [, , width, height] = box.split(/[ ,]+/).map(Number);
    board.style.setProperty("--ratio", width / height);
  }

  // The system's choice of light or dark until the button is pressed.
  const store = { get: () => { try { return localStorage.getItem("theme"); } catch (error) { return null; } },
    set: theme => { try { localStorage.setItem("theme", theme); } catch (error) { /* not kept, then */ } } };
  function themeButton(button) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    if (["light", "dark"].includes(store.get())) root.dataset.theme = store.get();
    button.addEventListener("click", () => {
      const now = root.dataset.theme || (dark.matches ? "dark" : "light");
      root.dataset.theme = now === "dark" ? "light" : "dark";
      store.set(root.dataset.theme);
    });
  }
  return { make, dot, number, layOut, themeButton };
})();
