// The live page: asks the programming interface, listens to events, draws.

import { bars, intervals, lines, meter, short, stack, svg } from "/page/charts.js";
import { savePicture, saveTable } from "/page/files.js";
import {
  arms, contextName, contextsOf, dated, differences, endsOf, fullName, hasContexts, isSet, items, leaderName, marks, ownName, rated, worth,
} from "/page/shown.js";
import "/page/tips.js";

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

// A heading may be followed by classes: `text` for words, `wide` for what a phone has no room for.
function table(id, caption, headings, rows) {
  const head = element("tr", {}, ...headings.map((heading) => {
    const [title, kind] = Array.isArray(heading) ? heading : [heading, ""];
    return element("th", { scope: "col", class: kind }, title);
  }));
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
      element("td", { class: "name text" }, leaderName(one)),
      element("td", { class: "text wide" }, one.structure),
      element("td", { class: "text wide" }, one.policy.name),
      element("td", {}, short(one.rounds)),
      element("td", { class: "wide" }, short(one.pending)),
      element("td", { class: "text" }, element("span", { class: "tag" }, one.closed ? "closed" : "open"), asOf(one.as_of)),
    ));
  const headings = ["Campaign", ["Leader", "text"], ["Structure", "text wide"], ["Policy", "text wide"], "Told",
    ["Pending", "wide"], ["State", "text"]];
  const caption = rows.length === 1 ? "1 campaign" : `${rows.length} campaigns`;
  const empty = element("p", { class: "empty" }, "There is no campaign yet. Create one: ",
    element("code", {}, "ossb campaign create NAME INSTANCE"));
  show(element("h1", {}, "Campaigns"),
    element("section", { class: "card", "aria-label": "Campaigns" },
      rows.length ? table("campaigns", caption, headings, rows) : empty));
}

// one campaign

function facts(found) {
  const { stop, exploration, instance } = found;
  const entry = (term, value, note) =>
    element("div", {}, element("dt", {}, term), element("dd", {}, value, ...(note ? [element("small", {}, note)] : [])));
  const level = `${short(100 * (1 - stop.delta))} %`, judged = stop.statistic !== null && stop.threshold;
  const share = judged ? Math.min(1, Math.max(0, stop.statistic / stop.threshold)) : null;
  const sure = element("span", { class: stop.met ? "met" : "" },
    stop.met ? `${stop.chosen ? "Sure" : "Best"} at ${level}` : hasContexts(instance) ? "–" : "Not sure yet");
  const parts = [
    element("p", { class: "headline" }, found.headline),
    element("dl", { class: "facts" },
      entry("Leader", leaderName(found), found.closed ? "campaign closed" : ""),
      entry("How sure", sure, stop.met ? "" : judged ? `${Math.floor(100 * share)} % of the evidence needed` : stop.reason || ""),
      entry("Told", short(found.rounds), `${short(found.pending)} pending; begun ${dated(found.created, Infinity)}`),
      entry("Cost of exploring", exploration.regret === null ? "–" : worth(instance, exploration.regret),
        exploration.regret === null ? "not known yet" : "estimated: what the best arm would have done better"),
    ),
  ];
  if (judged) {
    const title = `${Math.floor(100 * share)} % of the evidence that ${level} take`;
    parts.push(meter(share, stop.met, title));
  }
  if (stop.sentence && !hasContexts(instance)) parts.push(element("p", { class: "hint verdict" }, stop.sentence));
  return card("Where it stands", "", ...parts);
}

function mark(row, leads) {
  return row.name + (row.leads ? ` (${leads})` : "") + (row.retired ? " (retired)" : "");
}

const withUnit = (instance, title) => (instance.reward_unit ? `${title}, ${instance.reward_unit}` : title);

function itemTable(found) {
  const body = items(found).map((row) => element("tr", row.leads ? { class: "leads" } : {},
    element("td", { class: "name" }, mark(row, "in the leader")),
    element("td", {}, short(row.count)),
    element("td", {}, short(row.mean)),
    element("td", { class: "loose" }, endsOf(row))));
  return table("items", "Every item", ["Item", "Seen", withUnit(found.instance, "Mean"), ["95 % interval", "loose"]], body);
}

function armTable(found, rows, caption) {
  const body = rows.map((row) => element("tr", row.leads ? { class: "leads" } : {},
    element("td", { class: "name" }, mark(row, "leads")),
    element("td", {}, short(row.plays)),
    element("td", {}, short(row.mean)),
    element("td", { class: "loose" }, endsOf(row))));
  return table("arms", caption, ["Arm", "Plays", withUnit(found.instance, "Mean"), ["95 % interval", "loose"]], body);
}

// Who leads in each context.
function contextTable(found) {
  const rows = arms(found);
  const body = contextsOf(found.instance).map((_, z) => {
    const own = rows.filter((row) => row.arm[0] === z), plays = own.reduce((sum, row) => sum + row.plays, 0);
    const leader = plays ? own.find((row) => row.leads) : undefined;
    return element("tr", {},
      element("td", { class: "name" }, contextName(found.instance, z)),
      element("td", {}, short(plays)),
      element("td", { class: "name text" }, leader ? ownName(found, leader.arm) : "–"),
      element("td", {}, leader ? short(leader.mean) : "–"),
      element("td", { class: "loose" }, leader ? endsOf(leader) : "–"));
  });
  return table("contexts", "The leader of each context",
    ["Context", "Plays", ["Leader", "text"], withUnit(found.instance, "Mean"), ["95 % interval", "loose"]], body);
}

// What exploring has cost along the rounds, and beside it, for who asks, C(m) ln t.
function regret(found, beside) {
  const { ends, rounds, asked, regret: spent } = found.timeline;
  if (spent === null || !ends.length || !found.rounds) {
    const why = beside ? found.rates.reason : "Not known yet: the mathematics below says why.";
    const said = !found.rounds ? "Nothing was told yet." : spent === null ? why : "Nothing was asked yet.";
    return [element("p", { class: "empty" }, said)];
  }
  const told = { class: "regret", points: [[0, 0], ...rounds.map((t, i) => [t, spent[i]])] };
  const span = asked[asked.length - 1] - found.created, { instance } = found;
  const at = (t) => found.rates.value * Math.log(t + 1);
  const tips = rounds.map((t, i) => [t, `${dated(asked[i], span)}, ${short(t)} told: ${worth(instance, spent[i])}`
    + (beside ? `, C(m) ln t ${short(at(t), 3)}` : "")]);
  const below = marks(found, rounds, "told");
  const title = `Estimated regret ${worth(instance, found.exploration.regret)}`;
  if (!beside) return [lines([told], title, below, tips)];
  const promised = { class: "bound", points: Array.from({ length: 61 }, (_, i) => [(found.rounds * i) / 60, at((found.rounds * i) / 60)]) };
  return [key("regret", "regret spent, estimated"), key("bound", "C(m) ln t"),
    lines([told, promised], `${title} beside C(m) ln t ${short(found.exploration.bound, 3)}`, below, tips)];
}

function phases(found) {
  const { ends, asked, phases: counts } = found.timeline;
  if (!ends.length) return [element("p", { class: "empty" }, "Nothing was asked yet.")];
  const parts = ["exploit", "estimate", "explore"].map((phase) => [phase, counts[phase]]);
  const all = Object.entries(found.phases).map(([phase, count]) => `${phase} ${short(count)}`).join(", ");
  const span = asked[asked.length - 1] - found.created;
  const tips = ends.map((end, i) => `${dated(asked[i], span)}, decision ${short(end)}: `
    + parts.map(([phase, each]) => `${phase} ${short(each[i])}`).join(", "));
  return [...parts.map(([phase]) => key(phase, `${phase} ${short(found.phases[phase])}`)),
    stack(ends, parts, `Phases along the decisions: ${all}`, marks(found, ends, "decisions"), tips)];
}

function observed(value) {
  return Array.isArray(value) ? `[${value.map((entry) => short(entry)).join(", ")}]` : short(value);
}

function recent(found, decisions) {
  const today = new Date().toDateString();
  const asked = (moment) => {
    const date = new Date(1000 * moment);
    const clock = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
    return date.toDateString() === today ? clock : `${dated(moment, Infinity)}, ${clock}`;
  };
  const body = [...decisions].reverse().map((one) => element("tr", {},
    element("td", { class: "name" }, one.arm_name),
    element("td", { class: "wide" }, one.id),
    element("td", { class: "text wide" }, one.phase),
    element("td", { class: "text" }, one.status),
    element("td", {}, observed(one.observation)),
    element("td", { class: "loose" }, asked(one.asked))));
  return table("recent", "Newest first", ["Arm", ["Decision", "wide"], ["Phase", "text wide"], ["State", "text"],
    withUnit(found.instance, "Observed"), "Asked"], body);
}

// At most ``SHOWN`` rows, the leading ones first, and a hint at the others.
function cut(rows, count, total, what) {
  const drawn = rows.length <= SHOWN ? rows
    : [...rows].sort((a, b) => b.leads - a.leads || count(b) - count(a)).slice(0, SHOWN);
  const hint = total > drawn.length ? [element("p", { class: "hint" }, `The ${drawn.length} ${what(total)}.`)] : [];
  return [drawn, hint];
}

// The mathematics, one click further: open or not as it was left.
let mathematics = false;

function details(found) {
  const { stop } = found, rates = rated(found, SHOWN);
  const noRates = element("p", { class: "empty" }, found.rates.reason || "Nothing needs exploring.");
  const test = stop.statistic === null || stop.threshold === null
    ? element("p", { class: "empty" }, stop.reason || "There is no test.")
    : element("p", { class: "plain" }, `Likelihood-ratio statistic ${short(stop.statistic, 3)}, threshold ${short(stop.threshold, 3)} `
      + `at ${short(100 * (1 - stop.delta))} %`
      + (stop.runner_up === null ? "." : `; least ruled out: ${fullName(found, stop.runner_up)}.`));
  const title = `Difference to ${leaderName(found)} with 95 % intervals`;
  const all = differences(found);
  const [apart, fewer] = cut(all, (row) => -Math.abs(row.mean), all.length, (total) => `nearest of ${short(total)} arms`);
  const behind = apart.length ? [card(withUnit(found.instance, title), "half", intervals(apart, "Difference of each arm to the leader", found.instance.reward_unit), ...fewer)] : [];
  const whole = element("details", { id: "mathematics" },
    element("summary", { id: "mathematics-summary" }, "The mathematics"),
    element("div", { class: "grid" },
      card("Test", "", test),
      ...behind,
      card("Regret beside the bound", "half", ...regret(found, true)),
      card("Rates the bound asks for, c(x, m)", "half", rates.length ? bars(rates, "Rate of each arm") : noRates),
      card("Phases", "", ...phases(found))));
  whole.open = mathematics;
  whole.addEventListener("toggle", () => { mathematics = whole.open; });
  return whole;
}

function button(id, title, does) {
  const made = element("button", { type: "button", id }, title);
  made.addEventListener("click", does);
  return made;
}

function downloads(found, charts) {
  const contexts = hasContexts(found.instance);
  const numbers = () => saveTable(found.name,
    [...(contexts ? ["context"] : []), "arm", "plays", "mean", "low_95", "high_95", "leads", "retired", "reward_unit"],
    arms(found).map((row) => [
      ...(contexts ? [contextName(found.instance, row.arm[0]), ownName(found, row.arm)] : [row.name]),
      row.plays, row.mean, row.half === null ? null : row.low, row.half === null ? null : row.high,
      row.leads, row.retired, found.instance.reward_unit || ""]));
  return element("p", { class: "downloads" },
    button("download-numbers", "Download numbers (CSV)", numbers),
    button("download-picture", "Download picture (SVG)", () => savePicture(found.name, found.headline, charts)));
}

// Of which context the arms are shown; null for all of them.
function chooser(found, context, choose) {
  const select = element("select", { id: "context" }, element("option", { value: "" }, "All contexts"),
    ...contextsOf(found.instance).map((_, z) => element("option", { value: z }, contextName(found.instance, z))));
  select.value = context === null ? "" : String(context);
  select.addEventListener("change", () => choose(select.value === "" ? null : Number(select.value)));
  return element("p", { class: "chooser" }, element("label", { for: "context" }, "Context"), select);
}

function draw(found, decisions, context, above) {
  const { instance } = found, set = isSet(instance);
  const rows = arms(found, context);
  const [drawn, more] = cut(rows, (row) => row.plays, set ? found.arms_played : rows.length,
    (total) => `most played of ${short(total)} arms${set ? " played so far" : ""}`);
  const [means, others] = set
    ? cut(items(found), (row) => row.count, found.components.counts.length, (total) => `most seen of ${short(total)} items`)
    : [drawn.filter((row) => !row.silent), more];
  const caption = set ? `${short(rows.length)} of ${short(found.arms_played)} arms played so far`
    : context === null ? "Every arm" : `Every arm of ${contextName(instance, context)}`;
  const noPlays = element("p", { class: "empty" }, "Nothing was told yet.");
  const meansTitle = withUnit(instance, set ? "Means of the items with 95 % intervals" : "Means with 95 % intervals");
  const meansChart = intervals(means, `Mean of each ${set ? "item" : "arm"} with its interval`, instance.reward_unit);
  const playsChart = drawn.some((row) => row.plays)
    ? bars(drawn.map((row) => ({ name: row.name, value: row.plays, leads: row.leads, tip: row.tip })), "Plays of each arm") : null;
  const costs = regret(found, false), costsTitle = withUnit(instance, "What exploring has cost");
  const charts = [[meansTitle, meansChart], ["Plays", playsChart], [costsTitle, costs[costs.length - 1]]]
    .filter(([, chart]) => chart instanceof SVGElement);
  show(
    element("h1", {}, found.name),
    element("p", { class: "sub" }, `${instance.structure}, ${instance.observation}, policy ${found.policy.name}, `
      + `${instance.goal === "minimize" ? "the least is best" : "the most is best"}`),
    element("div", { class: "grid" },
      facts(found),
      ...above,
      ...(hasContexts(instance) ? [card("Contexts", "", contextTable(found))] : []),
      card(meansTitle, "half", meansChart, ...others),
      card("Plays", "half", playsChart || noPlays, ...(set ? more : [])),
      card(costsTitle, "half", ...costs),
      ...(set ? [card("Items", "half", itemTable(found))] : []),
      card("Arms", set ? "" : "half", armTable(found, rows, caption)),
      card("Recent decisions", "", recent(found, decisions)),
    ),
    downloads(found, charts),
    details(found),
  );
}

function campaign(name) {
  document.title = `${name}: ossb`;
  where.textContent = name;
  let seen = 0, waiting = null, looking = false, again = false, source = null;
  let context = null, last = null;

  function redraw() {
    const [found, decisions] = last;
    const above = hasContexts(found.instance) && contextsOf(found.instance).length > 1
      ? [chooser(found, context, (chosen) => { context = chosen; redraw(); })] : [];
    draw(found, decisions, context, above);
  }

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
      last = [found, decisions];
      redraw();
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
    for (const kind of ["imported", "asked", "offered", "told", "voided", "expired", "arm_added", "arm_retired", "switched", "closed"]) {
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
