/** Settles a wallet transaction by its id, whether or not it is a matter that waits for a person. */
import { z } from "zod";
import { isPaymentError } from "../../errors/errors.ts";
import type { ActContext } from "../frame/intake/rules.ts";
import { OperatorRefused } from "../frame/acts/act.ts";
import type { ActRow } from "../frame/acts/act-row.ts";
import type { EvidenceActs, NamedLanding, SettledTransaction } from "../frame/acts/evidence.ts";
import { matterId } from "../frame/acts/matter.ts";

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

/** The act as a row. If a person resolves the matter at the same moment, one of the two succeeds. */
export function settleRow(evidence: EvidenceActs): ActRow<NamedLanding, null, SettledTransaction> {
  const decision = ({ transactionId }: NamedLanding): string => matterId("unprovable", transactionId);
  return {
    given: landed,
    decision,
    subject: async () => null,
    async decide({ given }) {
      const { transactionId, signature } = given;
      const decided = await evidence.settle(given).catch((cause: unknown) => {
        if (!isPaymentError(cause, "TRANSACTION_NOT_FOUND")) throw cause;
        throw new OperatorRefused(`there is no wallet transaction ${transactionId}`, { cause });
      });
      const what = { transactionId, signature };
      return { act: "settle", what, subject: decision(given), ...decided };
    },
  };
}
