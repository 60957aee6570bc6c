// The live page: asks the programming interface, listens to events, draws.

import { bars, intervals, lines, meter, short, stack, svg } from "/page/charts.js";

const SHOWN = 30; // arms drawn at most; the table has them all, or the most played of a set
const PAUSE = 500; // milliseconds between two looks while events come
const main = document.getElementById("content");
const connection = document.getElementById("connection");
const where = document.getElementById("where");

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

function say(kind, message) {
  if (connection.textContent === message) return;
  connection.className = kind;
  connection.textContent = message;
}

async function fetched(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  if (answer.status === 401) {
    location.assign("/login");
    throw new Error("signing in");
  }
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error ? content.error.message : `status ${answer.status}`);
  return content;
}

function show(...nodes) {
  const focused = document.activeElement && document.activeElement.id;
  main.replaceChildren(...nodes);
  main.setAttribute("aria-busy", "false");
  const again = focused && document.getElementById(focused);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
}

const path = (name, rest = "") => `/v1/campaigns/${encodeURIComponent(name)}${rest}`;

function table(id, caption, headings, rows) {
  const texts = ["Structure", "Policy", "State", "Phase"];
  const head = element("tr", {}, ...headings.map((heading) =>
    element("th", texts.includes(heading) ? { scope: "col", class: "text" } : { scope: "col" }, heading)));
  const body = element("tbody", {}, ...rows);
  const whole = element("table", {}, element("caption", {}, caption), element("thead", {}, head), body);
  return element("div", { class: "scroll", id, tabindex: "0", role: "region", "aria-label": caption }, whole);
}

function card(title, kind, ...children) {
  return element("section", { class: `card ${kind}`, "aria-label": title }, element("h2", {}, title), ...children);
}

function key(kind, label) {
  const mark = svg("svg", { viewBox: "0 0 18 10", "aria-hidden": "true" });
  if (kind === "regret" || kind === "bound") mark.append(svg("line", { x1: 0, x2: 18, y1: 5, y2: 5, class: kind }));
  else mark.append(svg("rect", { width: 18, height: 10, class: kind }));
  return element("span", { class: "key" }, mark, label);
}

// the list of campaigns

// a busy campaign is shown as it was when last looked at
function asOf(moment) {
  if (moment === null) return " not seen yet";
  const seconds = Math.round(Date.now() / 1000 - moment);
  return seconds > 60 ? ` as of ${new Date(1000 * moment).toLocaleTimeString()}` : "";
}

async function list() {
  const { campaigns } = await fetched("/v1/campaigns?brief=true");
  const rows = campaigns.map((one) =>
    element("tr", {},
      element("td", { class: "name" }, element("a", { href: `/campaigns/${encodeURIComponent(one.name)}` }, one.name)),
      element("td", { class: "text" }, one.structure),
      element("td", { class: "text" }, one.policy.name),
      element("td", {}, short(one.rounds)),
      element("td", {}, short(one.pending)),
      element("td", {}, one.leader === null ? "–" : JSON.stringify(one.leader)),
      element("td", { class: "text" }, element("span", { class: "tag" }, one.closed ? "closed" : "open"), asOf(one.as_of)),
    ));
  const headings = ["Campaign", "Structure", "Policy", "Told", "Pending", "Leader", "State"];
  const caption = rows.length === 1 ? "1 campaign" : `${rows.length} campaigns`;
  const empty = element("p", { class: "empty" }, "There is no campaign yet. Create one: ",
    element("code", {}, "ossb campaign create NAME INSTANCE"));
  show(element("h1", {}, "Campaigns"),
    element("section", { class: "card", "aria-label": "Campaigns" },
      rows.length ? table("campaigns", caption, headings, rows) : empty));
}

// one campaign

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// Whether the arms are those of a set, named by their items and shown once they are played.
const isSet = (instance) => instance.arm_set !== undefined;

function nameOf(instance, arm) {
  const names = instance.arm_names || [];
  const one = (item) => (names[item] === undefined ? String(item) : names[item]);
  if (!Array.isArray(arm)) return one(arm);
  if (instance.structure === "dueling") return arm.map(one).join(" – ");
  return names.length ? arm.map(one).join(", ") : `[${arm.join(", ")}]`;
}

function facts(found) {
  const { stop, exploration } = found;
  const entry = (term, value, note) =>
    element("div", {}, element("dt", {}, term), element("dd", {}, value, ...(note ? [element("small", {}, note)] : [])));
  const level = `${short(100 * (1 - stop.delta))} %`;
  const sure = element("span", { class: stop.met ? "met" : "" }, stop.met ? `Best at ${level}` : "Not sure yet");
  const reason = stop.statistic === null || stop.threshold === null
    ? stop.reason || "" : `${short(stop.statistic, 3)} of ${short(stop.threshold, 3)} needed`;
  const list_ = element("dl", { class: "facts" },
    entry("Leader", found.leader === null ? "–" : nameOf(found.instance, found.leader),
      found.closed ? "campaign closed" : ""),
    entry("How sure", sure, reason),
    entry("Told", short(found.rounds), `${short(found.pending)} pending`),
    entry("Regret spent (estimated)", short(exploration.regret, 3),
      exploration.bound === null ? "" : `C(m) ln t = ${short(exploration.bound, 3)}`),
  );
  const parts = [list_];
  if (stop.sentence) parts.push(element("p", { class: "verdict" }, stop.sentence));
  if (stop.statistic !== null && stop.threshold) {
    const title = `Likelihood-ratio statistic ${short(stop.statistic, 3)} against its threshold ${short(stop.threshold, 3)}`;
    parts.push(element("p", { class: "hint" }, `Likelihood-ratio statistic against its threshold at ${level}`),
      meter(stop.statistic / stop.threshold, stop.met, title));
  }
  return card("Where it stands", "", ...parts);
}

// Where a mean lies: right at all times, for all of them together.
const within = (mean, ends) => (ends ? { half: (ends[1] - ends[0]) / 2, low: ends[0], high: ends[1] }
  : { half: null, low: mean, high: mean });
const endsOf = (row) => (row.half === null ? "–" : `${short(row.low, 3)} to ${short(row.high, 3)}`);

function items(found) {
  const { counts, means } = found.components;
  const ends = found.intervals ? found.intervals.components : [];
  const leading = new Set(found.leader || []), retired = new Set(found.retired);
  return counts.map((count, item) => ({
    name: nameOf(found.instance, item), count, mean: means[item], ...within(means[item], ends[item]),
    leads: leading.has(item), retired: retired.has(item),
  }));
}

// The ends of a sum are the sums of the ends.
function endsOfSum(found, shown) {
  const ends = shown.map((item) => found.intervals && found.intervals.components[item]);
  if (ends.some((pair) => !pair)) return null;
  return [0, 1].map((side) => ends.reduce((sum, pair) => sum + pair[side], 0));
}

function arms(found) {
  const retired = new Set(found.retired);
  const rates = new Map((found.rates.rates || []).map((entry) => [JSON.stringify(entry.arm), entry.rate]));
  return found.arms.map((arm, i) => {
    const mean = found.means[i], duel = found.instance.structure === "dueling";
    const ends = isSet(found.instance) ? endsOfSum(found, arm.arm)
      : found.intervals && found.intervals.arms && found.intervals.arms[i];
    return {
      name: arm.arm_name, plays: found.plays[i], mean, ...within(mean, mean === null ? null : ends),
      silent: duel && arm.arm[0] === arm.arm[1], // of an item with itself: shows nothing
      leads: same(arm.arm, found.leader), rate: rates.get(JSON.stringify(arm.arm)) || 0,
      retired: Array.isArray(arm.arm) ? arm.arm.some((item) => retired.has(item)) : retired.has(arm.arm),
    };
  });
}

function mark(row, leads) {
  return row.name + (row.leads ? ` (${leads})` : "") + (row.retired ? " (retired)" : "");
}

function itemTable(rows) {
  const body = rows.map((row) => element("tr", row.leads ? { class: "leads" } : {},
    element("td", { class: "name" }, mark(row, "in the leader")),
    element("td", {}, short(row.count)),
    element("td", {}, short(row.mean)),
    element("td", {}, endsOf(row))));
  return table("items", "Every item", ["Item", "Seen", "Mean", "95 % interval"], body);
}

function armTable(rows, caption) {
  const body = rows.map((row) => element("tr", row.leads ? { class: "leads" } : {},
    element("td", { class: "name" }, mark(row, "leads")),
    element("td", {}, short(row.plays)),
    element("td", {}, short(row.mean)),
    element("td", {}, endsOf(row)),
    element("td", {}, row.rate ? short(row.rate, 3) : "–")));
  return table("arms", caption, ["Arm", "Plays", "Mean", "95 % interval", "Rate c(x, m)"], body);
}

function regret(found) {
  const { ends, rounds, regret: spent } = found.timeline;
  if (spent === null || !ends.length) {
    return [element("p", { class: "empty" }, found.rates.reason || "Nothing was told yet.")];
  }
  const value = found.rates.value;
  const told = [[0, 0], ...rounds.map((t, i) => [t, spent[i]])];
  const promised = [];
  for (let i = 0; i <= 60; i++) {
    const told = (found.rounds * i) / 60;
    promised.push([told, value * Math.log(told + 1)]);
  }
  return [key("regret", "regret spent, estimated"), key("bound", "C(m) ln t"),
    lines([{ class: "regret", points: told }, { class: "bound", points: promised }],
      `Estimated regret ${short(found.exploration.regret, 3)} beside C(m) ln t ${short(found.exploration.bound, 3)}`, "rounds")];
}

function phases(found) {
  const { ends, phases: counts } = found.timeline;
  if (!ends.length) return [element("p", { class: "empty" }, "Nothing was asked yet.")];
  const parts = ["exploit", "estimate", "explore"].map((phase) => [phase, counts[phase]]);
  const all = Object.entries(found.phases).map(([phase, count]) => `${phase} ${short(count)}`).join(", ");
  return [...parts.map(([phase]) => key(phase, `${phase} ${short(found.phases[phase])}`)),
    stack(ends, parts, `Phases along the decisions: ${all}`)];
}

function observed(value) {
  return Array.isArray(value) ? `[${value.map((entry) => short(entry)).join(", ")}]` : short(value);
}

function recent(decisions) {
  const body = decisions.reverse().map((one) => element("tr", {},
    element("td", { class: "name" }, one.arm_name),
    element("td", {}, one.id),
    element("td", { class: "text" }, one.phase),
    element("td", { class: "text" }, one.status),
    element("td", {}, observed(one.observation)),
    element("td", {}, new Date(1000 * one.asked).toLocaleTimeString())));
  return table("recent", "Newest first", ["Arm", "Decision", "Phase", "State", "Observed", "Asked"], body);
}

// At most ``SHOWN`` rows, the leading ones first, and a hint at the others.
function cut(rows, count, total, what) {
  const drawn = rows.length <= SHOWN ? rows
    : [...rows].sort((a, b) => b.leads - a.leads || count(b) - count(a)).slice(0, SHOWN);
  const hint = total > drawn.length ? [element("p", { class: "hint" }, `The ${drawn.length} ${what(total)}.`)] : [];
  return [drawn, hint];
}

function rated(found) {
  return (found.rates.rates || []).filter((entry) => entry.rate > 0).sort((a, b) => b.rate - a.rate)
    .slice(0, SHOWN).map((entry) => ({ name: nameOf(found.instance, entry.arm), value: entry.rate }));
}

function draw(found, decisions) {
  const rows = arms(found), set = isSet(found.instance);
  const [drawn, more] = cut(rows, (row) => row.plays, set ? found.arms_played : rows.length,
    (total) => `most played of ${short(total)} arms${set ? " played so far" : ""}`);
  const [means, others] = set
    ? cut(items(found), (row) => row.count, found.components.counts.length, (total) => `most seen of ${short(total)} items`)
    : [drawn.filter((row) => !row.silent), more];
  const rates = rated(found);
  const caption = set ? `${short(rows.length)} of ${short(found.arms_played)} arms played so far` : "Every arm";
  const noPlays = element("p", { class: "empty" }, "Nothing was told yet.");
  const noRates = element("p", { class: "empty" }, found.rates.reason || "Nothing needs exploring.");
  const { instance } = found;
  show(
    element("h1", {}, found.name),
    element("p", { class: "sub" }, `${instance.structure}, ${instance.observation}, policy ${found.policy.name}, `
      + `${instance.goal === "minimize" ? "the least is best" : "the most is best"}`),
    element("div", { class: "grid" },
      facts(found),
      card(set ? "Means of the items with 95 % intervals" : "Means with 95 % intervals", "half",
        intervals(means, `Mean of each ${set ? "item" : "arm"} with its interval`), ...others),
      card("Plays", "half", drawn.length
        ? bars(drawn.map((row) => ({ name: row.name, value: row.plays })), "Plays of each arm") : noPlays,
      ...(set ? more : [])),
      card("Regret spent on exploring", "half", ...regret(found)),
      card("Rates the bound asks for, c(x, m)", "half", rates.length ? bars(rates, "Rate of each arm") : noRates),
      card("Phases", "", ...phases(found)),
      card("Arms", "half", armTable(rows, caption)),
      ...(set ? [card("Items", "half", itemTable(items(found)))] : []),
      card("Recent decisions", set ? "" : "half", recent(decisions)),
    ),
  );
}

function campaign(name) {
  document.title = `${name}: ossb`;
  where.textContent = name;
  let seen = 0, waiting = null, looking = false, again = false, source = null;

  async function look() {
    waiting = null;
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    try {
      const [found, { decisions }] = await Promise.all([
        fetched(path(name)), fetched(path(name, "/decisions?start=-12&limit=12"))]);
      seen = Math.max(seen, found.events);
      draw(found, decisions);
    } finally {
      looking = false;
      if (again) {
        again = false;
        soon();
      }
    }
  }

  function soon() {
    if (waiting === null) waiting = setTimeout(() => look().catch(failed), PAUSE);
  }

  function failed(error) {
    say("lost", error.message);
  }

  function listen() {
    source = new EventSource(path(name, `/events?after=${seen}`));
    const came = (event) => {
      seen = Math.max(seen, Number(event.lastEventId));
      soon();
    };
    for (const kind of ["imported", "asked", "told", "voided", "expired", "arm_added", "arm_retired", "closed"]) {
      source.addEventListener(kind, came);
    }
    source.onopen = () => {
      say("live", "Live");
      soon();
    };
    source.onerror = () => {
      say("lost", "Connection lost, trying again…");
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    };
  }

  look().then(listen).catch((error) => {
    failed(error);
    show(element("h1", {}, name), element("p", { class: "error", role: "alert" }, error.message));
  });
}

const parts = location.pathname.split("/");
if (parts[1] === "campaigns" && parts[2]) {
  campaign(decodeURIComponent(parts[2]));
} else {
  const refresh = () => list().then(() => say("live", "Live")).catch((error) => say("lost", error.message));
  refresh();
  setInterval(refresh, 5000);
}
