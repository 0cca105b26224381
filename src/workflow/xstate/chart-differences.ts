/** Lists the differences between two texts of a chart, in sentences for its author. */
import { FUNCTION } from "./chart-text.ts";

type Config = Readonly<Record<string, unknown>>;

/** Short sentences, one for each difference, in the order of the chart; at least one where the texts differ. */
export function chartDifferences(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const charts = [JSON.parse(before) as Config, JSON.parse(after) as Config] as const;
  const found = [...ofState("", charts)].map((difference) => shortened(difference, MAX_SENTENCE));
  return found.length > 0 ? found : ["its parts are written in another order, or in another way"];
}

/** Parts of a state that are compared in words of their own. */
const COMPARED: ReadonlySet<string> = new Set([
  ...["states", "on", "after", "always", "onDone", "entry", "exit", "invoke", "id"],
]);

/** Names of the parts of a state and of a transition, where the chart's own word would be hard to read. */
const NAMES: Readonly<Record<string, string>> = {
  initial: "the initial state",
  entry: "the entry actions",
  exit: "the exit actions",
  guard: "the guard",
  target: "the target",
  actions: "the actions",
};

const PLURAL: ReadonlySet<string> = new Set(["entry", "exit", "actions"]);

type Pair<Part = unknown> = readonly [before: Part, after: Part];

/** `path` is empty for the chart itself. */
function* ofState(path: string, [before, after]: Pair<Config>): Generator<string> {
  const state = path === "" ? "the chart" : `\`${path}\``;
  const part = (field: string): Pair => [before[field], after[field]];
  for (const field of keysOf(before, after)) {
    if (!COMPARED.has(field)) yield* ofField(field, `of ${state}`, part(field));
  }
  if (path !== "" || before["id"] !== undefined) yield* ofField("id", `of ${state}`, part("id"));
  for (const field of ["entry", "exit"]) {
    yield* ofField(field, `of ${state}`, [listOf(before[field]), listOf(after[field])]);
  }
  yield* ofEach([invocationsOf(before["invoke"]), invocationsOf(after["invoke"])], {
    isNew: (id) => `${state} invokes \`${id}\` now`,
    isGone: (id) => `${state} no longer invokes \`${id}\``,
    inBoth: (id, pair) => ofInvocation(`\`${id}\` in ${state}`, configsOf(pair)),
  });
  yield* ofEach(configsOf(part("on")), {
    isNew: (event) => `${state} takes ${event} now`,
    isGone: (event) => `${state} no longer takes ${event}`,
    inBoth: (event, pair) => ofTransitions(event, state, pair),
  });
  yield* ofDelays(state, configsOf(part("after")));
  for (const field of ["always", "onDone"]) yield* ofTransitions(field, state, part(field));
  const pathOf = (key: string): string => (path === "" ? key : `${path}.${key}`);
  yield* ofEach(configsOf(part("states")), {
    isNew: (key) => `state \`${pathOf(key)}\` is new`,
    isGone: (key) => `state \`${pathOf(key)}\` is gone`,
    inBoth: (key, pair) => ofState(pathOf(key), configsOf(pair)),
  });
}

interface Comparison {
  readonly isNew: (key: string) => string;
  readonly isGone: (key: string) => string;
  readonly inBoth: (key: string, pair: Pair) => Iterable<string>;
}

function* ofEach([before, after]: Pair<Config>, { isNew, isGone, inBoth }: Comparison): Generator<string> {
  for (const key of keysOf(before, after)) {
    if (!(key in before)) yield isNew(key);
    else if (!(key in after)) yield isGone(key);
    else yield* inBoth(key, [before[key], after[key]]);
  }
}

/** A delay is a key in the chart, so a changed delay looks like a removed delay and a new delay. */
function* ofDelays(state: string, [before, after]: Pair<Config>): Generator<string> {
  const begun = Object.keys(after).filter((delay) => !(delay in before));
  for (const delay of Object.keys(before).filter((each) => each in after)) {
    yield* ofTransitions(`after ${delayText(delay)}`, state, [before[delay], after[delay]]);
  }
  for (const delay of Object.keys(before).filter((each) => !(each in after))) {
    const same = begun.findIndex((other) => isSame(listOf(before[delay]), listOf(after[other])));
    const [other] = same < 0 ? [] : begun.splice(same, 1);
    if (other === undefined) yield `${state} no longer goes on after ${delayText(delay)}`;
    else yield `the delay of ${state} was ${delayText(delay)}, is ${delayText(other)}`;
  }
  for (const delay of begun) yield `${state} goes on after ${delayText(delay)} now`;
}

function* ofInvocation(invocation: string, [before, after]: Pair<Config>): Generator<string> {
  for (const field of keysOf(before, after)) {
    const pair = [before[field], after[field]] as const;
    if (/^on[A-Z]/.test(field)) yield* ofTransitions(field, invocation, pair);
    else yield* ofField(field, `of ${invocation}`, pair);
  }
}

/** `label` is what the transitions stand under. */
function* ofTransitions(label: string, state: string, [before, after]: Pair): Generator<string> {
  const [old, now] = [listOf(before).map(transitionOf), listOf(after).map(transitionOf)];
  if (isSame(old, now)) return;
  if (old.length !== now.length) {
    yield `${label} of ${state} had ${transitions(old.length)}, has ${now.length}`;
    return;
  }
  for (const [index, transition] of old.entries()) {
    const which = old.length === 1 ? "" : ` (transition ${index + 1})`;
    const next = now[index] ?? {};
    for (const field of keysOf(transition, next)) {
      yield* ofField(field, `of ${label} in ${state}${which}`, [transition[field], next[field]]);
    }
  }
}

function* ofField(field: string, where: string, [before, after]: Pair): Generator<string> {
  if (isSame(before, after)) return;
  const what = `${NAMES[field] ?? `\`${field}\``} ${where}`;
  const [was, is] = PLURAL.has(field) ? ["were", "are"] : ["was", "is"];
  const [old, now] = [before, after].map((part) => (isNothing(part) ? null : textOf(part)));
  if (old === null) yield `${what} ${is} new: ${now}`;
  else if (now === null) yield `${what} ${is} gone: ${old}`;
  else yield old === now ? `something inside ${what} has changed` : `${what} ${was} ${old}, ${is} ${now}`;
}

const MAX_SENTENCE = 240;
const MAX_VALUE = 60;

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function delayText(delay: string): string {
  return /^\d/.test(delay) ? `${delay} ms` : `\`${delay}\``;
}

function transitions(count: number): string {
  return count === 1 ? "1 transition" : `${count} transitions`;
}

function keysOf(before: object, after: object): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])];
}

function isSame(before: unknown, after: unknown): boolean {
  return sortedText(before) === sortedText(after);
}

/** The order of keys makes no difference. */
function sortedText(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each !== "object" || each === null || Array.isArray(each)
      ? each
      : Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  );
}

function isNothing(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function configOf(value: unknown): Config {
  return typeof value === "object" && value !== null ? (value as Config) : {};
}

function configsOf([before, after]: Pair): Pair<Config> {
  return [configOf(before), configOf(after)];
}

/** A target may be written alone. */
function transitionOf(value: unknown): Config {
  if (typeof value === "string") return { target: value };
  const { target, actions, ...rest } = configOf(value);
  const targets = listOf(target);
  return {
    ...(targets.length > 0 && { target: targets.length === 1 ? targets[0] : targets }),
    ...(actions !== undefined && { actions: listOf(actions) }),
    ...rest,
  };
}

/** Invocations by id, else by the name of their logic, else by their place in the list. */
function invocationsOf(value: unknown): Config {
  return Object.fromEntries(
    listOf(value).map((each, index) => {
      const { id, src } = configOf(each);
      const name = [id, src].find((given) => typeof given === "string");
      return [name ?? String(index), each];
    }),
  );
}

/** Names as they stand in the chart, everything else as JSON. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return shortened(value.map(textOf).join(", ") || "none", MAX_VALUE);
  if (typeof value === "string") return nameText(value);
  const { type } = configOf(value);
  return typeof type === "string" ? nameText(type) : shortened(JSON.stringify(value), MAX_VALUE);
}

function nameText(name: string): string {
  if (!name.startsWith(FUNCTION)) return shortened(`\`${name}\``, MAX_VALUE);
  const type = name.slice(FUNCTION.length);
  return type === "" ? "a function" : type.replace("xstate.", "");
}
