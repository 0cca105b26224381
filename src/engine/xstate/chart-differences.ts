/** What has changed between two texts of a chart, in sentences for its author. */
import { FUNCTION } from "./chart-text.ts";

type Config = Readonly<Record<string, unknown>>;

/**
 * One sentence for each difference between two texts of `chartText`, in the order of the chart; at least one where the texts
 * differ. Each sentence is short, however long what it is about.
 */
export function chartDifferences(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const differences = new Differences();
  differences.ofStates("", JSON.parse(before) as Config, JSON.parse(after) as Config);
  const { found } = differences;
  return found.length > 0 ? found : ["its parts are written in another order, or in another way"];
}

/** Parts of a state that are compared in words of their own. */
const COMPARED: ReadonlySet<string> = new Set([
  ...["states", "on", "after", "always", "onDone", "entry", "exit", "invoke", "id"],
]);

/** What the parts of a state and of a transition are called where the chart's own word would be hard to read. */
const NAMES: Readonly<Record<string, string>> = {
  initial: "the initial state",
  entry: "the entry actions",
  exit: "the exit actions",
  guard: "the guard",
  target: "the target",
  actions: "the actions",
};

const PLURAL: ReadonlySet<string> = new Set(["entry", "exit", "actions"]);

/** A key that a list of transitions stands under, and where that is. */
interface Place {
  readonly label: string;
  readonly state: string;
}

/** A field of a state, of an invocation or of a transition, and which of them it belongs to. */
interface Field {
  readonly field: string;
  readonly where: string;
}

class Differences {
  readonly found: string[] = [];

  /** `path` is empty for the chart itself. */
  ofStates(path: string, before: Config, after: Config): void {
    const state = path === "" ? "the chart" : `\`${path}\``;
    for (const field of keysOf(before, after)) {
      if (!COMPARED.has(field)) this.#ofField({ field, where: `of ${state}` }, before[field], after[field]);
    }
    if (path !== "" || before["id"] !== undefined) {
      this.#ofField({ field: "id", where: `of ${state}` }, before["id"], after["id"]);
    }
    for (const field of ["entry", "exit"]) {
      this.#ofField({ field, where: `of ${state}` }, listOf(before[field]), listOf(after[field]));
    }
    this.#ofInvocations(state, before["invoke"], after["invoke"]);
    this.#ofEvents(state, configOf(before["on"]), configOf(after["on"]));
    this.#ofDelays(state, configOf(before["after"]), configOf(after["after"]));
    for (const field of ["always", "onDone"]) {
      this.#ofTransitions({ label: field, state }, before[field], after[field]);
    }
    this.#ofChildren(path, configOf(before["states"]), configOf(after["states"]));
  }

  #ofChildren(path: string, before: Config, after: Config): void {
    for (const key of keysOf(before, after)) {
      const child = path === "" ? key : `${path}.${key}`;
      if (!(key in before)) this.#say(`state \`${child}\` is new`);
      else if (!(key in after)) this.#say(`state \`${child}\` is gone`);
      else this.ofStates(child, configOf(before[key]), configOf(after[key]));
    }
  }

  #ofEvents(state: string, before: Config, after: Config): void {
    for (const event of keysOf(before, after)) {
      if (!(event in before)) this.#say(`${state} takes ${event} now`);
      else if (!(event in after)) this.#say(`${state} no longer takes ${event}`);
      else this.#ofTransitions({ label: event, state }, before[event], after[event]);
    }
  }

  /** A delay stands in the chart as a key, so a changed one is one that is gone and one that is new. */
  #ofDelays(state: string, before: Config, after: Config): void {
    const gone = Object.keys(before).filter((delay) => !(delay in after));
    const begun = Object.keys(after).filter((delay) => !(delay in before));
    for (const delay of Object.keys(before)) {
      if (delay in after) {
        this.#ofTransitions({ label: `after ${delayText(delay)}`, state }, before[delay], after[delay]);
      }
    }
    for (const delay of gone) {
      const same = begun.findIndex((other) => isSame(listOf(before[delay]), listOf(after[other])));
      const [other] = same < 0 ? [] : begun.splice(same, 1);
      if (other === undefined) this.#say(`${state} no longer goes on after ${delayText(delay)}`);
      else this.#say(`the delay of ${state} was ${delayText(delay)}, is ${delayText(other)}`);
    }
    for (const delay of begun) this.#say(`${state} goes on after ${delayText(delay)} now`);
  }

  #ofInvocations(state: string, before: unknown, after: unknown): void {
    const [old, now] = [invocationsOf(before), invocationsOf(after)];
    for (const id of keysOf(old, now)) {
      if (!(id in old)) this.#say(`${state} invokes \`${id}\` now`);
      else if (!(id in now)) this.#say(`${state} no longer invokes \`${id}\``);
      else this.#ofInvocation(`\`${id}\` in ${state}`, configOf(old[id]), configOf(now[id]));
    }
  }

  #ofInvocation(invocation: string, before: Config, after: Config): void {
    for (const field of keysOf(before, after)) {
      const [old, now] = [before[field], after[field]];
      if (/^on[A-Z]/.test(field)) this.#ofTransitions({ label: field, state: invocation }, old, now);
      else this.#ofField({ field, where: `of ${invocation}` }, old, now);
    }
  }

  #ofTransitions({ label, state }: Place, before: unknown, after: unknown): void {
    const [old, now] = [listOf(before).map(transitionOf), listOf(after).map(transitionOf)];
    if (isSame(old, now)) return;
    if (old.length !== now.length) {
      this.#say(`${label} of ${state} had ${transitions(old.length)}, has ${now.length}`);
      return;
    }
    old.forEach((transition, index) => {
      const which = old.length === 1 ? "" : ` (transition ${index + 1})`;
      const next = now[index] ?? {};
      for (const field of keysOf(transition, next)) {
        this.#ofField({ field, where: `of ${label} in ${state}${which}` }, transition[field], next[field]);
      }
    });
  }

  /** A field that is compared as a whole. */
  #ofField({ field, where }: Field, before: unknown, after: unknown): void {
    if (isSame(before, after)) return;
    const what = `${NAMES[field] ?? `\`${field}\``} ${where}`;
    const [was, is] = PLURAL.has(field) ? ["were", "are"] : ["was", "is"];
    if (isNothing(before)) return this.#say(`${what} ${is} new: ${textOf(after)}`);
    if (isNothing(after)) return this.#say(`${what} ${is} gone: ${textOf(before)}`);
    const [old, now] = [textOf(before), textOf(after)];
    this.#say(old === now ? `something inside ${what} has changed` : `${what} ${was} ${old}, ${is} ${now}`);
  }

  #say(difference: string): void {
    this.found.push(shortened(difference, MAX_SENTENCE));
  }
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

/** By id, by the name of the logic where there is none, or by the place in the list. */
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
