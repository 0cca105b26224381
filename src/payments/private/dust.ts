/** When a rest goes without its assertion (K13): dust came between its run and its landing. */
import type { TransferInHand } from "./transfer-in-hand.ts";

/** Why a rest asserts again: without, it was not worth its cost. */
export const ASSERTED_AGAIN = "asserted_again";

/** Errors of the token program and of the system program: an account to be closed, or the address, was not empty. */
const NOT_EMPTY = 11;
const IN_USE = 0;
/** Behind both budget instructions: the making of the sender's account fails with the same number, by another's doing. */
const FIRST_LEG = 2;

/** Whether the newest attempt has landed with an error of dust. */
export function isDisturbed({ row, attempts }: Pick<TransferInHand, "row" | "attempts">): boolean {
  return row.reason !== ASSERTED_AGAIN && isOfDust(attempts.at(-1)?.error ?? null);
}

/** Whether a landed error of a rest says that something was left. */
export function isOfDust(error: string | null): boolean {
  if (error === null) return false;
  const { InstructionError: [index = 0, cause = {}] = [] } = JSON.parse(error) as {
    readonly InstructionError?: readonly [number?, { readonly Custom?: number }?];
  };
  return cause.Custom === NOT_EMPTY || (cause.Custom === IN_USE && index > FIRST_LEG);
}
