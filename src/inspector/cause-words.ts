/** Describes the cause of a step in words, for the timeline of the pages and of the command. */
import { stepNumber, type HistoryStep, type StepCause, type TaskCause } from "../workflow/step-cause.ts";

/** The words, and the step that they link to at their end, if any. */
interface CauseWords {
  readonly words: string;
  readonly from: TaskCause | null;
}

const MOVED = " after its delay, since the clock had been set back";

/** `instance` is that of the step. A null cause is a caller of the engine. */
export function causeWords(cause: StepCause | null, instance: string): CauseWords {
  if (cause === null) return { words: "by a caller", from: null };
  if (cause.kind === "watch") return { words: `seen by the watch ${cause.watch}`, from: null };
  const { from } = cause;
  if (cause.kind === "parent") return { words: "by its parent", from };
  const isOwn = from?.instance === instance;
  switch (cause.kind) {
    case "effect":
      return isOwn
        ? { words: `by its effect ${cause.name ?? ""} of`, from }
        : { words: from === null ? "by an effect" : "by an effect of", from };
    case "timer":
      if (!isOwn) return { words: "a timer fired", from };
      return { words: `its timer fired${cause.isMoved ? MOVED : ""}, set at`, from };
    case "invocation":
      return { words: "begun at", from };
    case "message":
      if (from === null) return { words: "by a message", from };
      return { words: isOwn ? "sent by itself at" : "from", from };
    default:
      return cause satisfies never;
  }
}

/** The cause as one text, with its step. */
export function causeSentence(
  cause: StepCause | null,
  instance: string,
  history: readonly HistoryStep[],
): string {
  const { words, from } = causeWords(cause, instance);
  return from === null ? words : `${words} ${originWords(from, instance, history)}`;
}

/**
 * The name of the step that a cause came from: the step's number when known, and the instance when it is a different
 * instance.
 */
export function originWords(from: TaskCause, instance: string, history: readonly HistoryStep[]): string {
  const number = stepNumber(from, history);
  if (from.instance === instance) return number === null ? "an earlier step" : `step ${number}`;
  return number === null ? from.instance : `${from.instance}, step ${number}`;
}
