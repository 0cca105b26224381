/** What becomes of attempts, in a word each. */
import type { Attempt, AttemptLook, Ledger } from "../../src/ledger/ledger.ts";

/** `seen`: all endpoints show it in a block. `open`: it may still land, or too few endpoints answer. */
export type AttemptFate = "open" | "seen" | "landed" | "dead" | "unprovable";

/** In the order asked. */
export async function fatesOf(
  ledger: Pick<Ledger, "look">,
  attempts: readonly Attempt[],
): Promise<readonly AttemptFate[]> {
  return (await ledger.look(attempts)).map(fateIn);
}

export function fateIn({ standing, death }: AttemptLook): AttemptFate {
  if (standing === "landed") return "landed";
  if (death !== "open") return death;
  return standing === "seen" || standing === "confirmed" ? "seen" : "open";
}
