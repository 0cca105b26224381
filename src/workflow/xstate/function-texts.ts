/**
 * Finds in the text of a chart's functions, before any step runs, which actions they seem to enqueue and actors they seem to
 * look up. A text proves nothing: it makes warnings, and the step refuses what cannot be durable.
 */

/** Parts of a built-in action that XState itself has written. */
const OF_XSTATE: ReadonlySet<string> = new Set(["resolve", "execute"]);

export function functionTexts(action: object): readonly string[] {
  return Object.entries(action).flatMap(([part, given]: [string, unknown]) => {
    if (typeof given === "function") return OF_XSTATE.has(part) ? [] : [String(given)];
    // The assignments of single fields.
    return part === "assignment" && typeof given === "object" && given !== null ? functionTexts(given) : [];
  });
}

const ENQUEUED_FUNCTION =
  /\benqueue\w*\(\s*(?:async\b|function\b|[\w$.]+\s*\)|\(\s*\)\s*=>|\(\s*[\w$]+[^()]*\)\s*=>|\(\s*\{[^}]*\}[^()]*\)\s*=>|[\w$]+\s*=>)/;

/** Whether the text enqueues an inline action, or what a variable holds: it could not be found again after a restart. */
export function enqueuesFunction(text: string): boolean {
  return ENQUEUED_FUNCTION.test(text);
}

export function enqueuedNames(text: string): readonly string[] {
  return found(text, /\benqueue\w*\(\s*(?:\{\s*type:\s*)?["'`]([\w$.-]+)["'`]/g);
}

/** Whether the text seems to begin children. */
export function spawns(text: string): boolean {
  return /\bspawn\b/.test(text);
}

/** Whether the text asks for news of every step of a child that it begins. */
export function followsSnapshot(text: string): boolean {
  return /\bsyncSnapshot\s*:\s*true\b/.test(text);
}

/** Whether the text reads what another actor is like: the steps of two instances are not made together. */
export function readsSnapshot(text: string): boolean {
  return /(?<!\bself)\.getSnapshot\(/.test(text);
}

export function askedOfSystem(text: string): readonly string[] {
  return found(text, /\bsystem\s*\.\s*get\(\s*["'`]([^"'`]+)["'`]/g);
}

export function namedInSystem(text: string): readonly string[] {
  return found(text, /\bsystemId\s*:\s*["'`]([^"'`]+)["'`]/g);
}

function found(text: string, names: RegExp): readonly string[] {
  return [...text.matchAll(names)].map(([, name = ""]) => name);
}
