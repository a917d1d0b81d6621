(() => {
  const { make, dot, number, layOut, themeButton } = common;
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = id => document.getElementById(id);
  const MOST_SHOWN = 400;
  let game = null;     // what the server said last
  let busy = false;    // a request for a change is under way
  let advised = null;  // the action that a hint named
  let running = 0;     // which chain of opponents' moves is the current one

  const own = () => data.games.find(g => g.name === game.game);
  const name = seat => seat < 0 ? "chance" : seat === game.seat ? "You" : game.names[seat];
  const pause = ms => new Promise(done => setTimeout(done, ms));

  // ---------------------------------------------------------------------------------------------------- the server
  async function ask(path, body) {
    let answer;
    try {
      answer = await fetch(path, body === undefined ? {} :
        { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    } catch (error) {
      throw new Error("The server does not answer. Is it still running?");
    }
    const content = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(content.error), { status: answer.status });
    return content;
  }
  const at = (what = "") => `/api/games/${game.id}${what}`;
  function notice(text) {
    $("notice").textContent = text || "";
    $("notice").hidden = !text;
  }
  function setBusy(now) {
    busy = now;
    document.body.classList.toggle("busy", now);
  }
  // One change at a time; what goes wrong is shown, and the game stays as it was.
  async function change(act) {
    if (busy) return false;
    setBusy(true);
    notice("");
    try {
      await act();
      return true;
    } catch (error) {
      notice(error.message);
      return false;
    } finally {
      setBusy(false);
    }
  }

  // ------------------------------------------------------------------------------------------------------ the game
  function take(view) {
    const events = [...(game && game.id === view.id ? game.events.slice(0, view.event - view.events.length) : []), ...view.events];
    game = { ...view, events };
    advised = null;
    show();
  }
  async function open(view) {
    running++;
    $("filter").value = "";
    $("log").replaceChildren();
    game = null;
    take(view);
    paint(own().colours);
    const advisers = [...new Set([...view.names.filter((_, k) => k !== view.seat), ...own().agents])];
    $("adviser").replaceChildren(...advisers.map(agent => new Option(agent)));
    if (view.names.length < 2) $("adviser").value = own().agent;
    history.replaceState(null, "", `#${view.id}`);
    await opponents();
  }
  function paint(colours) {
    const [light, dark] = [0, 1].map(k => colours.map((pair, seat) => `--seat${seat}:${pair[k]}`).join(";"));
    $("colours").textContent = `:root{${light}}@media(prefers-color-scheme:dark){:root{${dark}}}` +
      `:root[data-theme=light]{${light}}:root[data-theme=dark]{${dark}}`;
  }
  async function opponents() {
    const chain = ++running;
    while (game && !game.over && !game.yours && chain === running) {
      const begin = performance.now();
      while (busy) await pause(20);  // something that was asked for the game before this one
      let view = null;
      const done = await change(async () => { view = await ask(at("/advance"), { event: game.event }); });
      if (chain !== running) return;
      if (!done) return retry();
      take(view);
      await pause(Math.max(0, Number($("pace").value) - (performance.now() - begin)));
    }
  }
  function retry() {
    const again = make("button", "Try again", "wide");
    again.type = "button";
    again.addEventListener("click", async () => {
      if (await change(async () => take(await ask(at())))) opponents();
    });
    $("notice").append(" ", again);
  }
  async function play(action) {
    const focused = $("choose").contains(document.activeElement), id = game.id;
    const played = await change(async () => {
      const view = await ask(at("/moves"), { action, event: game.event });
      if (game.id !== id) return;
      $("filter").value = "";
      take(view);
    });
    if (!played) return;
    await opponents();
    if (focused && game.yours && !$("dialog").open) $("filter").focus({ preventScroll: true });
  }
  async function hint() {
    if (!game || !game.yours) return;
    await change(async () => {
      const advice = await ask(at("/hint"), { agent: $("adviser").value || null });
      advised = advice.action;
      const words = `${advice.agent} would play: ${advice.text}`;
      const value = typeof advice.value === "number" ? ` (expects ${advice.value > 0 ? "+" : ""}${number(advice.value.toFixed(2))})` : "";
      const button = make("button", "Play", "wide");
      button.type = "button";
      button.addEventListener("click", () => play(advice.action));
      $("advice").replaceChildren(make("span", words + value), button);
      $("advice").hidden = false;
      showActions();
    });
  }

  // ------------------------------------------------------------------------------------------------- what is shown
  function show() {
    const board = $("board");
    board.innerHTML = game.svg;
    layOut(board);
    document.title = `${game.title}: ${game.names.join(" against ")}`;
    $("heading").textContent = game.title;
    document.body.dataset.event = game.event;
    document.body.dataset.turn = game.over ? "over" : game.yours ? "yours" : "theirs";
    showSeats();
    showParams();
    showNow();
    showLog();
    $("advice").hidden = true;
    showActions();
  }
  function showSeats() {
    $("seats").replaceChildren(...game.names.map((agent, seat) => {
      const css = [seat === game.mover ? "mover" : "", seat === game.seat ? "you" : ""].join(" ").trim();
      const item = make("li", undefined, css);
      item.append(dot(seat), `${agent} `, make("b", number(game.scores[seat])));
      return item;
    }));
  }
  function showParams() {
    const words = value => value === true ? "yes" : value === false ? "no" : value && typeof value === "object" ? value.name ?? "custom" : value;
    const shown = Object.entries({ ...game.params, seed: game.seed });
    $("params").replaceChildren(...shown.map(([key, value]) => make("span", `${key.replaceAll("_", " ")}: ${words(value)}`)));
  }
  function showNow() {
    const moves = game.events.filter(event => event.seat >= 0), last = moves[moves.length - 1];
    const status = game.over ? "The game is over" : game.yours ? "Your turn" : `${name(game.mover)} is thinking …`;
    $("who").replaceChildren(...(game.mover >= 0 ? [dot(game.mover)] : []), status);
    $("what").replaceChildren(...(last ? [dot(last.seat), `${name(last.seat)}: ${last.text}`] : ["\u00a0"]));
    $("result").hidden = !game.over;
    $("result").replaceChildren(...(game.over ? resultLines() : []));
    $("save").hidden = !game.events.length;
    $("save-record").href = at("/record");
    $("save-replay").href = at("/replay?save");
    $("watch").href = at("/replay");
  }
  function resultLines() {
    if (game.fault) return [make("p", `Broken off. ${game.fault}`)];
    const best = Math.max(...game.returns), alone = game.returns.length < 2;
    const winners = game.returns.map((value, seat) => value === best ? seat : -1).filter(seat => seat >= 0);
    const won = alone ? best > 0 : winners.includes(game.seat);
    let words = "You win!";
    if (alone && best <= 0) words = best < 0 ? "You lose." : "Game over.";
    else if (!alone && winners.length > 1) words = won ? "You share the win." : "They share the win.";
    else if (!won) words = `${name(winners[0])} wins.`;
    const table = make("table"), head = make("tr");
    head.append(make("th", "seat"), make("th", "score"), make("th", "return"));
    table.append(head, ...game.names.map((_, seat) => {
      const row = make("tr", undefined, winners.includes(seat) && (!alone || won) ? "best" : ""), who = make("td");
      who.append(dot(seat), name(seat));
      row.append(who, make("td", number(game.scores[seat])), make("td", number(Number(game.returns[seat].toFixed(3)))));
      return row;
    }));
    return [make("h2", words), ...(game.truncated ? [make("p", "The game was cut off at its turn limit.", "muted")] : []), table];
  }
  function showLog() {
    const log = $("log");
    for (const event of game.events.slice(log.children.length)) {
      const item = make("li", undefined, event.seat < 0 ? "chance" : "");
      item.append(dot(event.seat), make("span", event.seat < 0 ? event.text : `${name(event.seat)}: ${event.text}`));
      log.append(item);
    }
    log.scrollTop = log.scrollHeight;
  }

  // ------------------------------------------------------------------------------------------------ your actions
  const parts = () => $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text, wanted) => wanted.every(part => text.toLowerCase().includes(part));
  const matching = wanted => game ? game.actions.filter(([, text]) => fits(text, wanted)) : [];
  function showActions() {
    const found = matching(parts()), all = game ? game.actions.length : 0;
    $("choose").hidden = !game || game.over;
    $("hint").disabled = $("filter").disabled = !game || !game.yours;
    $("count").textContent = all ? (found.length < all ? `${found.length} of ${all}` : String(all)) : "";
    const groups = new Map();
    for (const entry of found.slice(0, MOST_SHOWN)) {
      const word = entry[1].split(" ")[0];
      groups.set(word, [...(groups.get(word) ?? []), entry]);
    }
    const ordered = [...groups].sort((a, b) => a[1].length - b[1].length);
    const lines = ordered.flatMap(([word, entries]) => {
      const box = make("div", undefined, "group");
      box.append(...entries.map(actionButton));
      return ordered.length > 1 || entries.length > 1 ? [make("h3", entries.length > 8 ? `${word} (${entries.length})` : word), box] : [box];
    });
    if (found.length > MOST_SHOWN) lines.push(make("p", `and ${found.length - MOST_SHOWN} more: type or click more words`, "muted"));
    if (all && !found.length) lines.push(make("p", "No legal action has these words.", "muted"));
    if (game && !game.yours && !game.over) lines.push(make("p", "It is not your turn.", "muted"));
    $("actions").replaceChildren(...lines);
    const first = $("actions").querySelector(".advised") ?? $("actions").querySelector("button");
    if (first) first.tabIndex = 0;
  }
  function actionButton([action, text]) {
    const button = make("button", text, action === advised ? "advised" : "");
    button.type = "button";
    button.tabIndex = -1;  // one tab stop for the whole list; arrow keys move in it
    button.dataset.action = action;
    button.addEventListener("click", () => play(action));
    return button;
  }
  function moveFocus(key) {
    const buttons = [...$("actions").querySelectorAll("button")], here = buttons.indexOf(document.activeElement);
    if (here < 0) return buttons[0]?.focus();
    const step = key === "ArrowRight" ? here + 1 : key === "ArrowLeft" ? here - 1 : below(buttons, here, key === "ArrowDown" ? 1 : -1);
    if (step < 0) return $("filter").focus();
    const next = buttons[Math.min(step, buttons.length - 1)];
    buttons[here].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
  // The nearest button of the next line in a direction: the lines of a group are as wide as the screen lets them be.
  function below(buttons, here, direction) {
    const from = buttons[here], line = button => button.getBoundingClientRect().top;
    let k = here;
    while (buttons[k] && Math.abs(line(buttons[k]) - line(from)) < 4) k += direction;
    if (!buttons[k]) return direction < 0 ? -1 : buttons.length - 1;
    let best = k;
    for (let j = k; buttons[j] && Math.abs(line(buttons[j]) - line(buttons[k])) < 4; j += direction) {
      const far = button => Math.abs(button.offsetLeft - from.offsetLeft);
      if (far(buttons[j]) < far(buttons[best])) best = j;
    }
    return best;
  }

  // A click on the board filters by what lies there: the word, of those the drawing has there, that most actions have.
  function wordsUnder(event) {
    const words = new Set();
    for (const element of document.elementsFromPoint(event.clientX, event.clientY)) {
      if (!$("board").contains(element)) continue;
      for (let up = element; up && up.tagName !== "svg" && up !== $("board"); up = up.parentElement) Object.values(up.dataset).forEach(word => words.add(word));
      if (element.tagName === "text") words.add(element.textContent);
    }
    return [...words].map(word => word.toLowerCase()).filter(word => word.length > 1);
  }
  function pickWord(event) {
    const tokens = game.actions.map(([, text]) => text.toLowerCase().split(" "));
    const counts = wordsUnder(event).map(word => [word, tokens.filter(list => list.includes(word)).length]);
    const [word, count] = counts.sort((a, b) => b[1] - a[1])[0] ?? ["", 0];
    if (!count) return;
    const before = parts();
    const after = before.includes(word) ? before.filter(part => part !== word) : [...before, word];
    $("filter").value = (matching(after).length ? after : [word]).join(" ");
    showActions();
    if (matching(parts()).length === 1) $("actions").querySelector("button").focus({ preventScroll: true });
  }
  $("board").addEventListener("click", event => { if (game && game.yours && !busy) pickWord(event); });
  $("filter").addEventListener("input", showActions);
  $("filter").addEventListener("keydown", event => {
    const found = matching(parts());
    if (event.key === "Enter" && found.length === 1) play(found[0][0]);
    if (event.key === "ArrowDown") { event.preventDefault(); moveFocus(event.key); }
  });
  $("actions").addEventListener("keydown", event => {
    if (event.key.startsWith("Arrow")) { event.preventDefault(); moveFocus(event.key); }
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || $("dialog").open) return;
    if (event.key === "Escape") { $("filter").value = ""; showActions(); }
    if (event.target.closest("input, select")) return;
    if (event.key === "/") { event.preventDefault(); $("filter").focus(); }
    if (event.key === "?") hint();
  });
  $("hint").addEventListener("click", hint);

  // --------------------------------------------------------------------------------------------- the form of a new game
  const chosen = () => data.games.find(g => g.name === $("game").value);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  function switchField(entry) {
    const label = make("label"), text = make("span", entry.name.replaceAll("_", " "));
    text.append(make("small", entry.meaning));
    const field = make(entry.choices ? "select" : "input");
    const words = value => value === true ? "yes" : value === false ? "no" : typeof value === "object" ? value.name ?? "custom" : String(value);
    if (entry.choices) field.append(...entry.choices.map((value, k) => new Option(words(value), k)));
    else Object.assign(field, { type: "number", step: Number.isInteger(entry.default) ? 1 : "any", required: true });
    field.dataset.switch = entry.name;
    label.append(text, field);
    return label;
  }
  const field = entry => $("switches").querySelector(`[data-switch="${entry.name}"]`);
  const read = entry => entry.choices ? entry.choices[Number(field(entry).value)] : Number(field(entry).value);
  function write(values) {
    for (const entry of chosen().switches) {
      const value = values[entry.name] ?? entry.default;
      field(entry).value = entry.choices ? entry.choices.findIndex(choice => same(choice, value)) : value;
    }
    seats();
  }
  const values = () => Object.fromEntries(chosen().switches.map(entry => [entry.name, read(entry)]).filter(([key, value]) =>
    !same(value, chosen().switches.find(entry => entry.name === key).default)));
  const players = () => Math.max(1, Math.min(12, read(chosen().switches.find(entry => entry.name === "players")) || 1));
  function seats(agents, seat) {
    const old = [...$("table").querySelectorAll("input[type=text]")].map(input => input.value);
    const mine = seat ?? Number($("table").querySelector(":checked")?.value ?? 0);
    const count = players(), rows = [];
    for (let k = 0; k < count; k++) {
      const row = make("div", undefined, "row"), label = make("label"), radio = make("input"), agent = make("input");
      Object.assign(radio, { type: "radio", name: "seat", value: k, checked: k === Math.min(mine, count - 1) });
      Object.assign(agent, { type: "text", value: agents?.[k] || old[k] || chosen().agent, required: true, ariaLabel: `agent in seat ${k}` });
      agent.setAttribute("list", "agents");
      agent.setAttribute("autocomplete", "off");
      label.append(radio, dot(k), `seat ${k}`);
      row.append(label, agent);
      rows.push(row);
    }
    $("table").replaceChildren(...rows);
    markSeat();
  }
  function markSeat() {
    for (const row of $("table").children) {
      const [radio, agent] = row.querySelectorAll("input");
      agent.disabled = radio.checked;
      agent.placeholder = radio.checked ? "you" : "an agent";
      if (radio.checked) { agent.dataset.kept = agent.value || agent.dataset.kept || ""; agent.value = ""; }
      else agent.value ||= agent.dataset.kept || chosen().agent;
    }
  }
  function chooseGame(switches = {}, agents = undefined, seat = undefined) {
    $("agents").replaceChildren(...chosen().agents.map(agent => new Option(agent, agent)));
    $("variant").replaceChildren(...Object.keys(chosen().variants).map(variant => new Option(variant)), new Option("custom"));
    $("switches").replaceChildren(...chosen().switches.map(switchField));
    write(switches);
    seats(agents, seat);
    nameVariant();
    if (!game) paint(chosen().colours);
  }
  function nameVariant() {
    const found = Object.entries(chosen().variants).find(([, switches]) => {
      const full = Object.fromEntries(Object.entries(switches).filter(([key, value]) => !same(value, chosen().switches.find(e => e.name === key).default)));
      return same(Object.entries(full).sort(), Object.entries(values()).sort());
    });
    $("variant").value = found ? found[0] : "custom";
  }
  function openForm() {
    $("refused").hidden = true;
    $("cancel").hidden = !game;
    $("dialog").showModal();
    $("start").focus();
  }
  $("game").append(...data.games.map(g => new Option(g.title, g.name)));
  $("game").addEventListener("change", () => chooseGame());
  $("variant").addEventListener("change", () => { if (chosen().variants[$("variant").value]) write(chosen().variants[$("variant").value]); else $("more").open = true; });
  $("switches").addEventListener("change", () => { seats(); nameVariant(); });
  $("table").addEventListener("change", markSeat);
  $("new").addEventListener("click", openForm);
  $("cancel").addEventListener("click", () => $("dialog").close());
  $("dialog").addEventListener("cancel", event => { if (!game) event.preventDefault(); });
  $("form").addEventListener("submit", async event => {
    event.preventDefault();
    const seat = Number($("table").querySelector(":checked").value);
    const agents = [...$("table").querySelectorAll("input[type=text]")].filter((_, k) => k !== seat).map(input => input.value.trim());
    const seed = $("seed").value === "" ? null : Number($("seed").value);
    $("start").disabled = true;
    $("start").textContent = "Starting …";
    $("refused").hidden = true;
    try {
      const view = await ask("/api/games", { game: $("game").value, switches: values(), agents, seat, seed });
      $("dialog").close();
      notice("");
      open(view);
    } catch (error) {
      $("refused").textContent = error.message;
      $("refused").hidden = false;
    } finally {
      $("start").disabled = false;
      $("start").textContent = "Start";
    }
  });

  themeButton($("theme"));
  new ResizeObserver(() => layOut($("board"))).observe($("board"));
  $("game").value = data.preset.game;
  const opponentsFirst = [...data.preset.agents];
  opponentsFirst.splice(data.preset.seat, 0, "");
  chooseGame(data.preset.switches, opponentsFirst, data.preset.seat);
  const kept = location.hash.slice(1);
  if (/^[\w-]{4,40}$/.test(kept)) ask(`/api/games/${kept}`).then(open, openForm);
  else openForm();
})();
