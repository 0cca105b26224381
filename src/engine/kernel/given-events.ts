/** Events that come from outside the engine: those of its own tell of ends and delays, and from outside they would be lies. */
import { reservedField } from "../../workflow/messages.ts";
import { keptEvent } from "../../workflow/values.ts";

/** XState's event that names the state to go to is anybody's to send. */
const OWN = /^(?!xstate\.route$)(xstate\.|\$)/;

/** Why this event is refused from outside, or null. The step itself refuses what is no event at all. */
export function reservedIn(event: unknown): string | null {
  if (typeof event !== "object" || event === null) return null;
  const { type } = event as { readonly type?: unknown };
  if (typeof type === "string" && OWN.test(type)) {
    return `event.type: ${type}: events that begin with xstate. or $ are the engine's own`;
  }
  return reservedField(event);
}

/** Returns the event as it is stored: a step sees what its history keeps. @throws TypeError when outsiders may not send it. */
export function givenEvent<E>(event: E): E {
  const stored = typeof event === "object" && event !== null ? (keptEvent(event) as E) : event;
  const reason = reservedIn(stored);
  if (reason !== null) throw new TypeError(reason);
  return stored;
}
