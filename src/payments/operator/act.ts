/** Checks an operator's command, and makes the row of the audit log that is committed with its effect. */
import { z } from "zod";
import type { ActContext } from "../act-context.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import type { Clock, Random } from "../../runtime.ts";
import { newId } from "../ids.ts";
import { OperatorRefused } from "./operator-refused.ts";
import { shownName, shownWords } from "../shown-words.ts";

/** Every act that the audit log knows. */
export type ActName =
  | "pause"
  | "resume"
  | "suspend"
  | "restore"
  | "set_limits"
  | "lower_witnesses"
  | "restore_witnesses"
  | "suspend_endpoint"
  | "restore_endpoint"
  | "retry"
  | "drop"
  | "release"
  | "refund_to"
  | "request_refund_to"
  | "write_off"
  | "settle"
  | "return_tokens"
  | "request_return_tokens"
  | "recover"
  | "request_cancel"
  | "request_redelivery"
  | "test_webhook";

/** An act in full; `what` is kept as JSON and must hold no secret. */
export interface Act {
  readonly by: ActContext;
  readonly act: ActName;
  readonly what: Readonly<Record<string, unknown>>;
}

const actedBy = z.strictObject({ actor: shownName, reason: shownWords });

/** Checks who acts and why. Throws `OperatorRefused` that names the field. */
export function readActContext(by: unknown): ActContext {
  return readCommand(actedBy, by);
}

/** Checks what an operator gave. Throws `OperatorRefused` with a sentence for each field that is wrong. */
export function readCommand<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const sentences = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw new OperatorRefused(sentences.join("; "));
}

/** Makes the row of the audit log for one act; it belongs into the commit that carries the act out. */
export type WriteAct = (act: Act) => PaymentWrite;

/** Sources of the time and the id of an audit row. */
interface AuditRuntime {
  readonly clock: Clock;
  readonly random: Random;
}

export function createWriteAct({ clock, random }: AuditRuntime): WriteAct {
  return ({ by: { actor, reason }, act, what }) => {
    const at = clock.now();
    const id = newId("audit", at, random);
    return { table: "audit", insert: { id, at, actor, reason, act, what: JSON.stringify(what) } };
  };
}
