/** Settles a wallet transaction by its id, whether or not it is a matter that waits for a person. */
import { z } from "zod";
import { isPaymentError } from "../../errors/errors.ts";
import type { Clock } from "../../core/runtime.ts";
import type { ActContext } from "../frame/intake/rules.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";
import { readActContext, readCommand, type WriteAct, OperatorRefused } from "../frame/acts/act.ts";
import { matterId } from "../frame/acts/matter.ts";
import type { EvidenceControl, NamedLanding, SettledTransaction } from "../frame/acts/evidence.ts";
import { decisionWrite } from "../frame/acts/decisions.ts";

/** Acts on any wallet transaction. Matters that wait for a person are decided by `resolve`, and orders of private mode. */
export interface TransactionCommands {
  /**
   * Settles a wallet transaction by the signature under which it landed. The evidence is read from the chain: at least
   * one endpoint must show exactly this message as finalized, and no endpoint may contradict. A transaction that was
   * failed as expired, or cancelled, keeps its status and is shown as `landedAfterCancel`. Rejects with
   * `OperatorRefused` if the evidence is not enough, and if nothing is left to settle; with `LedgerUnavailable`
   * when no endpoint answers.
   */
  settleTransaction(landing: NamedLanding, by: ActContext): Promise<SettledTransaction>;
}

const landed = z.strictObject({
  transactionId: z.string().min(1).max(64),
  signature: z.string().min(1).max(128),
});

interface TransactionCommandParts {
  readonly storage: Pick<FrameStorage, "decision">;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
  readonly evidence: EvidenceControl;
}

/** See `TransactionCommands`: one commit with its audit row. */
export async function settleByOperator(
  { storage, clock, writeAct, evidence }: TransactionCommandParts,
  given: NamedLanding,
  by: ActContext,
): Promise<SettledTransaction> {
  const acted = readActContext(by);
  const { transactionId, signature } = readCommand(landed, given);
  // Only one of two simultaneous decisions succeeds.
  const matter = matterId("unprovable", transactionId);
  const guard = decisionWrite(matter, await storage.decision(matter), {
    proposal: null,
    decidedAt: clock.now(),
  });
  const audit = writeAct({ by: acted, act: "settle", what: { transactionId, signature } });
  return evidence.settle({ transactionId, signature, writes: [guard, audit] }).catch((cause: unknown) => {
    if (!isPaymentError(cause, "TRANSACTION_NOT_FOUND")) throw cause;
    throw new OperatorRefused(`there is no wallet transaction ${transactionId}`, { cause });
  });
}
