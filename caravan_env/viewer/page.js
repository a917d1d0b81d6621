(() => {
  const { make, dot, number, layOut, themeButton } = common;
  const data = JSON.parse(document.getElementById("data").textContent);
  const frames = data.frames, last = frames.length - 1;
  const $ = id => document.getElementById(id);
  const board = $("board"), slider = $("slider"), list = $("list");
  let at = 0, timer = 0;

  const actor = frame => frame.seat >= 0 ? data.agents[frame.seat] ?? `seat ${frame.seat}` : frame.text ? "chance" : "";
  const words = k => frames[k].text || (k ? "" : "start");
  const turnOf = k => frames[k].turn ?? Math.floor(k / 10);

  function drawBoard() {
    board.innerHTML = frames[at].svg.map(n => data.lines[n]).join("\n");
    layOut(board);
  }

  // The list of steps, grouped by turn; only the current one is a tab stop.
  const entries = [];
  function buildList() {
    const counted = frames.some(f => f.turn !== undefined);
    let turn = null;
    const all = document.createDocumentFragment();
    frames.forEach((frame, k) => {
      const own = counted ? frames[Math.max(0, k - 1)].turn : null;
      if (counted && k && own !== turn) all.append(make("h3", own ? `Turn ${own}` : "Set-up"));
      if (k) turn = own;
      const entry = make("button", undefined, frame.seat < 0 ? "chance" : "");
      entry.type = "button";
      entry.tabIndex = -1;
      entry.append(dot(frame.seat), words(k));
      entry.addEventListener("click", () => { stop(); show(k); });
      entries.push(entry);
      all.append(entry);
    });
    list.append(all);
  }
  function markEntry(old) {
    entries[old].removeAttribute("aria-current");
    entries[old].tabIndex = -1;
    const entry = entries[at];
    entry.setAttribute("aria-current", "step");
    entry.tabIndex = 0;
    if (entries.includes(document.activeElement)) entry.focus({preventScroll: true});
    const top = entry.offsetTop, height = list.clientHeight;
    if (top < list.scrollTop + 30 || top + entry.offsetHeight > list.scrollTop + height - 30) {
      list.scrollTop = top - height / 2;
    }
  }

  // What the step was, and what its agent thought.
  function tell() {
    const frame = frames[at], thought = $("thought");
    const who = [actor(frame), frame.turn !== undefined && at ? `turn ${frames[at - 1].turn || "0 (set-up)"}` : ""];
    $("who").replaceChildren(...(frame.seat >= 0 ? [dot(frame.seat)] : []), who.filter(Boolean).join(", ") || "\u00a0");
    $("what").textContent = words(at);
    thought.replaceChildren();
    if (frame.value !== undefined) {
      const line = make("div", undefined, "value");
      line.append(make("span", `expects ${frame.value > 0 ? "+" : ""}${number(frame.value.toFixed(2))}`));
      if (Math.abs(frame.value) <= 1) {
        const meter = make("span", undefined, "meter"), bar = make("b");
        meter.style.setProperty("--own", frame.seat >= 0 ? `var(--seat${frame.seat})` : "var(--muted)");
        bar.style.left = `${50 + Math.min(0, frame.value) * 50}%`;
        bar.style.width = `${Math.abs(frame.value) * 50}%`;
        meter.append(bar);
        line.append(meter);
      }
      thought.append(line);
    }
    if (frame.policy) {
      const rows = make("ul", undefined, "policy");
      for (const [action, p] of frame.policy) {
        const row = make("li", undefined, action === frame.text ? "played" : "");
        row.style.setProperty("--p", `${(p * 100).toFixed(1)}%`);
        row.append(make("span", action), make("span", `${(p * 100).toFixed(p < 0.1 ? 1 : 0)} %`));
        rows.append(row);
      }
      thought.append(rows);
    }
    $("scores").replaceChildren(...frame.scores.map((score, seat) => {
      const item = make("span");
      item.append(dot(seat), number(score));
      return item;
    }));
  }

  // Scores over time.
  const W = 320, H = 130, L = 30, R = 8, T = 8, B = 18;
  const chartX = k => L + (W - L - R) * (last ? k / last : 0);
  let chartY = () => 0, cursor = null, dots = [];
  function svgMake(name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  }
  function niceStep(span) {
    const power = 10 ** Math.floor(Math.log10(span / 3 || 1));
    return [1, 2, 5, 10].map(m => m * power).find(s => span / s <= 4) || span;
  }
  function buildChart() {
    const seats = frames[0].scores.length;
    if (!seats) { $("chart").hidden = true; return; }
    const all = frames.flatMap(f => f.scores);
    const step = Math.max(1, niceStep(Math.max(...all, 1) - Math.min(...all, 0)));
    const low = Math.floor(Math.min(...all, 0) / step) * step, high = Math.ceil(Math.max(...all, 1) / step) * step;
    chartY = score => T + (H - T - B) * (high - score) / (high - low);
    const svg = svgMake("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "line chart of the scores"});
    for (let tick = low; tick <= high; tick += step) {
      svg.append(svgMake("line", {class: "grid", x1: L, x2: W - R, y1: chartY(tick), y2: chartY(tick)}),
        svgMake("text", {x: L - 6, y: chartY(tick) + 4, "text-anchor": "end"}, number(tick)));
    }
    svg.append(svgMake("text", {x: L, y: H - 3}, "0"), svgMake("text", {x: W - R, y: H - 3, "text-anchor": "end"}, `${last} steps`));
    for (let seat = 0; seat < seats; seat++) {
      const path = frames.map((f, k) => `${k ? "L" : "M"}${chartX(k).toFixed(1)} ${chartY(f.scores[seat]).toFixed(1)}`).join("");
      svg.append(svgMake("path", {d: path, style: `stroke:var(--seat${seat})`}));
    }
    cursor = svgMake("line", {class: "cursor", y1: T, y2: H - B});
    svg.append(cursor);
    dots = frames[0].scores.map((_, seat) => svgMake("circle", {r: 3.5, style: `fill:var(--seat${seat})`}));
    svg.append(...dots);
    const seek = event => {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * W;
      stop();
      show(Math.round((x - L) / (W - L - R) * last));
    };
    svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); seek(event); });
    svg.addEventListener("pointermove", event => { if (event.buttons) seek(event); });
    $("lines").append(svg);
  }
  function moveCursor() {
    if (!cursor) return;
    cursor.setAttribute("x1", chartX(at));
    cursor.setAttribute("x2", chartX(at));
    dots.forEach((mark, seat) => {
      mark.setAttribute("cx", chartX(at));
      mark.setAttribute("cy", chartY(frames[at].scores[seat]));
    });
  }

  // Moving about.
  function show(k) {
    const old = at;
    at = Math.max(0, Math.min(last, k || 0));
    drawBoard();
    markEntry(old);
    tell();
    moveCursor();
    slider.value = at;
    slider.setAttribute("aria-valuetext", `step ${at}: ${words(at)}`);
    $("step").textContent = `${at} / ${last}`;
    for (const id of ["first", "back", "previous"]) $(id).disabled = at === 0;
    for (const id of ["next", "forward", "last"]) $(id).disabled = at === last;
    document.body.dataset.step = at;
    try { history.replaceState(null, "", `#${at}`); } catch (error) { /* some viewers forbid it */ }
    if (timer && at === last) stop();
  }
  function turn(direction) {
    let k = at;
    if (direction > 0) {
      while (k < last && turnOf(k) === turnOf(at)) k++;
    } else {
      k = Math.max(0, k - 1);
      while (k > 0 && turnOf(k - 1) === turnOf(k)) k--;
    }
    return k;
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    document.body.classList.remove("playing");
    $("play").setAttribute("aria-label", "play");
    $("now").setAttribute("aria-live", "polite");
  }
  function play() {
    if (at === last) show(0);
    document.body.classList.add("playing");
    $("play").setAttribute("aria-label", "pause");
    $("now").setAttribute("aria-live", "off");
    timer = setInterval(() => show(at + 1), Number($("speed").value));
  }
  const go = k => { stop(); show(k); };
  const toggle = () => timer ? stop() : play();

  const keys = {
    ArrowLeft: event => go(event.shiftKey ? turn(-1) : at - 1),
    ArrowRight: event => go(event.shiftKey ? turn(1) : at + 1),
    ArrowUp: () => go(at - 10),
    ArrowDown: () => go(at + 10),
    PageUp: () => go(turn(-1)),
    PageDown: () => go(turn(1)),
    Home: () => go(0),
    End: () => go(last),
    " ": toggle,
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("select")) return;
    if (event.key === " " && event.target.closest("button") && !list.contains(event.target)) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
  slider.max = last;
  slider.addEventListener("input", () => go(Number(slider.value)));
  for (const [id, act] of Object.entries({
    first: () => go(0), back: () => go(turn(-1)), previous: () => go(at - 1), play: toggle,
    next: () => go(at + 1), forward: () => go(turn(1)), last: () => go(last),
  })) $(id).addEventListener("click", act);
  $("speed").addEventListener("change", () => { if (timer) { stop(); play(); } });
  addEventListener("hashchange", () => { const k = Number(location.hash.slice(1)); if (k !== at) go(k); });

  themeButton($("theme"));
  document.body.classList.toggle("thinks", frames.some(f => f.policy));
  buildList();
  buildChart();
  new ResizeObserver(() => layOut(board)).observe(board);
  show(Number(location.hash.slice(1)));
})();
