// What a campaign's document says, in the words and rows that the page shows.

import { short } from "/page/charts.js";

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// Whether the arms are those of a set, named by their items and shown once they are played.
export const isSet = (instance) => instance.arm_set !== undefined;

// Those that share a parameter, or segments that share nothing.
export const contextsOf = (instance) => instance.contexts || instance.segments;
export const hasContexts = (instance) => contextsOf(instance) !== undefined;
export const contextName = (instance, z) => contextsOf(instance)[z].name || String(z);

export function nameOf(instance, arm) {
  const names = instance.arm_names || [];
  const one = (item) => (names[item] === undefined ? String(item) : names[item]);
  if (!Array.isArray(arm)) return one(arm);
  if (instance.structure === "dueling") return same(arm[0], arm[1]) ? one(arm[0]) : arm.map(one).join(" – ");
  return names.length ? arm.map(one).join(", ") : `[${arm.join(", ")}]`;
}

// As the document names it, by its context too where there are contexts.
export function fullName(found, arm) {
  const known = isSet(found.instance) || found.instance.structure === "dueling" ? null
    : found.arms.find((one) => same(one.arm, arm));
  return known ? known.arm_name : nameOf(found.instance, arm);
}

// Without its context.
export function ownName(found, arm) {
  const prefix = `${contextName(found.instance, arm[0])}: `, name = fullName(found, arm);
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

export function leaderName(found) {
  if (found.leader === null || found.instance === null) return "–";
  if (!hasContexts(found.instance)) return fullName(found, found.leader);
  if (found.leader.length === 1) return ownName(found, found.leader[0]);
  const times = new Map();
  for (const arm of found.leader) times.set(ownName(found, arm), (times.get(ownName(found, arm)) || 0) + 1);
  const sorted = [...times].sort((a, b) => b[1] - a[1]);
  const rest = sorted.slice(3).reduce((sum, [, count]) => sum + count, 0);
  const said = sorted.slice(0, 3).map(([name, count]) => `${name} in ${count}`);
  return [...said, ...(rest ? [`others in ${rest}`] : [])].join(", ");
}

// A reward with its unit.
export function amount(instance, value, digits = 3) {
  const unit = instance.reward_unit;
  return value === null || !unit ? short(value, digits) : `${short(value, digits)} ${unit}`;
}

// A sum of rewards, in the figures that one would say.
export const worth = (instance, value) => amount(instance, Math.abs(value) >= 10 ? Math.round(value) : value);

// Where a mean lies: right at all times, for all of them together.
const within = (mean, ends) => (ends ? { half: (ends[1] - ends[0]) / 2, low: ends[0], high: ends[1] }
  : { half: null, low: mean, high: mean });
export const endsOf = (row) => (row.half === null ? "–" : `${short(row.low, 3)} to ${short(row.high, 3)}`);

function tipOf(instance, row, count) {
  const mean = row.mean === null ? "" : `, mean ${amount(instance, row.mean, 4)}`;
  const ends = row.half === null ? "" : ` (95 % interval ${endsOf(row)})`;
  return `${row.name}: ${count}${mean}${ends}${row.leads ? "; leads" : ""}`;
}

export function items(found) {
  const { counts, means } = found.components;
  const ends = found.intervals ? found.intervals.components : [];
  const leading = new Set(found.leader || []), retired = new Set(found.retired);
  return counts.map((count, item) => {
    const row = {
      name: nameOf(found.instance, item), count, mean: means[item], ...within(means[item], ends[item]),
      leads: leading.has(item), retired: retired.has(item),
    };
    return { ...row, tip: tipOf(found.instance, row, `seen ${short(count)} times`) };
  });
}

// The ends of a sum are the sums of the ends.
function endsOfSum(found, shown) {
  const ends = shown.map((item) => found.intervals && found.intervals.components[item]);
  if (ends.some((pair) => !pair)) return null;
  return [0, 1].map((side) => ends.reduce((sum, pair) => sum + pair[side], 0));
}

// The arms, or those of one context alone.
export function arms(found, context = null) {
  const { instance } = found, within_ = hasContexts(instance);
  const retired = new Set(within_ ? [] : found.retired);
  const leading = new Set((within_ ? found.leader || [] : found.stop.chosen || [found.leader]).map((arm) => JSON.stringify(arm)));
  const rates = new Map((found.rates.rates || []).map((entry) => [JSON.stringify(entry.arm), entry.rate]));
  const rows = found.arms.map((arm, i) => {
    const mean = found.means[i], duel = instance.structure === "dueling", written = JSON.stringify(arm.arm);
    const ends = isSet(instance) ? endsOfSum(found, arm.arm)
      : found.intervals && found.intervals.arms && found.intervals.arms[i];
    const row = {
      arm: arm.arm, name: context === null ? arm.arm_name : ownName(found, arm.arm),
      plays: found.plays[i], mean, ...within(mean, mean === null ? null : ends),
      silent: duel && arm.arm[0] === arm.arm[1], // of an item with itself: shows nothing
      leads: leading.has(written), rate: rates.get(written) || 0,
      retired: Array.isArray(arm.arm) ? arm.arm.some((item) => retired.has(item)) : retired.has(arm.arm),
    };
    return { ...row, tip: tipOf(instance, row, `${short(row.plays)} plays`) };
  });
  return context === null ? rows : rows.filter((row) => row.arm[0] === context);
}

// By how much arms differ from the leader; none where that is not known.
export function differences(found) {
  const ends = found.intervals && found.intervals.differences;
  if (!ends) return [];
  const first = found.arms.findIndex((one) => same(one.arm, found.leader)), { means } = found;
  return found.arms.map((one, i) => ({ one, i })).filter(({ i }) => ends[i] && means[i] !== null)
    .map(({ one, i }) => {
      const row = { name: one.arm_name, mean: means[i] - means[first], ...within(0, ends[i]), leads: false };
      return { ...row, tip: `${row.name}: ${amount(found.instance, row.mean, 4)} (95 % interval ${endsOf(row)})` };
    });
}

export function rated(found, most) {
  return (found.rates.rates || []).filter((entry) => entry.rate > 0).sort((a, b) => b.rate - a.rate)
    .slice(0, most).map((entry) => ({ name: fullName(found, entry.arm), value: entry.rate }));
}

// Dates: of a short campaign with the time of day.

const DAY = 86400;

export function dated(moment, span) {
  const date = new Date(1000 * moment);
  const clock = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  if (span < DAY / 2) return clock;
  const year = date.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
  const day = date.toLocaleDateString(undefined, { day: "numeric", month: "short", ...year });
  return span < 2 * DAY ? `${day} ${clock}` : day;
}

// Under an axis that counts: where it begins, its middle and its end, with their dates.
export function marks(found, counts, what) {
  const { asked } = found.timeline, end = counts[counts.length - 1];
  const span = asked[asked.length - 1] - found.created;
  const half = counts.findIndex((count) => count >= end / 2);
  const found_ = [[0, "0", dated(found.created, span)]];
  if (half >= 0 && half < counts.length - 1) found_.push([counts[half], short(counts[half]), dated(asked[half], span)]);
  return [...found_, [end, `${short(end)} ${what}`, dated(asked[asked.length - 1], span)]];
}
