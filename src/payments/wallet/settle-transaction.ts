/** Settles or writes off wallet transactions, on an operator's command, where the nodes' own evidence is not enough. */
import { commitOne } from "../../../storage/decided.ts";
import type { WalletTransferEvent } from "../../../machines/wallet-transfer.ts";
import { OperatorRefused } from "../frame/acts/act.ts";
import type { EvidenceActs, NamedLanding } from "../frame/acts/evidence.ts";
import type { FrameTables } from "../frame/tables.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { FrameStorage, FrameWrite } from "../frame/frame-storage.ts";
import type { ModuleEngine } from "../frame/module-engine.ts";
import { PaymentError } from "../../errors/errors.ts";
import type { Attempt, AttemptLook, Landing, LandingRefusal, Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../core/runtime.ts";
import type { WalletTransferWorkflow } from "./wallet-transfer-workflow.ts";
import { foundRefund } from "./refund-count.ts";
import { attemptOf } from "../frame/signed/stored-attempt.ts";
import { landingEvent } from "./signature-news.ts";

/** Dependencies of settling. */
interface Settlement {
  readonly storage: FrameStorage;
  readonly ledger: Ledger;
  readonly engine: ModuleEngine<FrameTables>;
  readonly transfers: WalletTransferWorkflow;
  readonly clock: Clock;
  /** Makes sure that the database belongs to this chain. */
  readonly bindToChain: () => Promise<unknown>;
}

const REFUSALS: Readonly<Record<LandingRefusal, string>> = {
  unknown:
    "no endpoint shows it finalized: configure one that has the history of that time, or wait until it is final",
  another_message: "it is another transaction than the one that was taken here",
  contradicted:
    "an endpoint that has the history of that time does not show it, or another outcome of it: find out which one is wrong",
  failed_alone:
    "it failed, by the word of fewer endpoints than must agree: configure another one that has the history of that time, or take those without it out of service",
};

/** Acts of an operator on wallet transactions, by the chain's evidence. */
export function evidenceActs(settlement: Settlement): EvidenceActs {
  return {
    settle: (landing) => settle(settlement, landing),
    writeOff: (transactionId) => writeOff(settlement, transactionId),
  };
}

/**
 * Settles a wallet transaction by a landing that an operator names. The evidence is read from the chain: at least one
 * endpoint must show exactly this message as finalized under `signature`, and no endpoint may contradict; the operator,
 * who has seen the landing elsewhere, replaces the other witnesses. Works at any time: a transaction that was failed as
 * expired, or cancelled, is then shown as landed, and its status stays.
 *
 * Throws `TRANSACTION_NOT_FOUND` for what is no wallet transaction, `OperatorRefused`, also where nothing is left to settle,
 * and `LedgerUnavailable` when no endpoint answers; then nothing is changed.
 */
async function settle(
  settlement: Settlement,
  { transactionId, signature }: NamedLanding,
): ReturnType<EvidenceActs["settle"]> {
  const { engine, ledger, transfers, bindToChain } = settlement;
  await bindToChain();
  const { attempt } = await findAttempt(settlement, transactionId);
  const answer = await ledger.namedLanding(attempt, signature);
  if ("refused" in answer) {
    const refusal: LandingRefusal = answer.refused;
    throw new OperatorRefused(
      `${signature} does not settle transaction ${transactionId}: ${REFUSALS[refusal]}`,
    );
  }
  const { landed } = answer;
  const event: WalletTransferEvent = landingEvent(attempt, landed);
  return {
    async send({ writes }) {
      const sent = await engine.send(transfers, transactionId, event, { writes });
      if (sent.kind === "refused") throw overtaken(transactionId);
      // Its chart has ended or waits for nothing: what is over is only shown as landed, what has not begun settles by itself.
      if (sent.kind !== "stepped") await showAsLanded(settlement, { transactionId, attempt, landed, writes });
      return { ok: true };
    },
    async told() {
      const { transaction } = await findAttempt(settlement, transactionId);
      return { transactionId, status: transaction.status, landing: landed };
    },
  };
}

/**
 * Ends an unprovable wallet transaction as failed, on the operator's word that it never landed. Refused while any endpoint
 * shows a trace of it, while it may still land, and while too few endpoints answer. Its caller may pay again then: should
 * it have landed all the same, that is looked for during a day and can be settled by its signature at any time.
 *
 * Throws `TRANSACTION_NOT_FOUND` for what is no wallet transaction, and `OperatorRefused`; then nothing is changed.
 */
async function writeOff(settlement: Settlement, transactionId: string): ReturnType<EvidenceActs["writeOff"]> {
  const { engine, ledger, transfers, bindToChain } = settlement;
  await bindToChain();
  const { attempt, transaction } = await findAttempt(settlement, transactionId);
  const refuse = (why: string): never => {
    throw new OperatorRefused(`transaction ${transactionId} cannot be written off: ${why}`);
  };
  if (transaction.attention !== "unprovable") refuse("nothing is missing to settle it");
  const [seen] = await ledger.look([attempt]);
  if (seen?.death !== "unprovable" || isShown(seen)) refuse(whyNot(seen));
  const named = await ledger.namedLanding(attempt, attempt.signature);
  if (!("refused" in named) || named.refused !== "unknown") {
    refuse("an endpoint shows it finalized: settle it by its signature");
  }
  return {
    async send({ writes }) {
      const sent = await engine.send(transfers, transactionId, { type: "EXPIRED" }, { writes });
      if (sent.kind !== "stepped") throw overtaken(transactionId);
      return { ok: true };
    },
    told: () => undefined,
  };
}

/** Whether endpoints show it in a block, however much evidence is missing for its death. */
function isShown({ standing }: AttemptLook): boolean {
  return standing === "landed" || standing === "confirmed" || standing === "seen";
}

function whyNot(seen: AttemptLook | undefined): string {
  if (seen?.death === "dead") return "it can never land, and is failed by itself in a moment";
  switch (seen?.standing) {
    case "landed":
      return "it has landed, and is settled by itself in a moment";
    case "confirmed":
    case "seen":
      return "it is in a block, and is settled by itself once that is final";
    default:
      return "it may still land, or too few endpoints answer to tell";
  }
}

async function findAttempt(
  { storage }: Settlement,
  transactionId: string,
): Promise<{ readonly transaction: TransactionRecord; readonly attempt: Attempt }> {
  const view = await storage.transaction(transactionId);
  const [stored]: readonly AttemptRecord[] =
    view?.transaction.mode === "wallet" ? await storage.attempts([view.transaction.signature ?? ""]) : [];
  if (view === null || stored === undefined) {
    throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  }
  return { transaction: view.transaction, attempt: attemptOf(stored) };
}

interface LandingToShow {
  readonly transactionId: string;
  readonly attempt: Attempt;
  readonly landed: Landing;
  readonly writes: readonly FrameWrite[];
}

function overtaken(transactionId: string): OperatorRefused {
  return new OperatorRefused(`somebody else has just settled transaction ${transactionId}`);
}

/** A landing after the end of the chart changes no status; it is shown beside it. */
async function showAsLanded(
  settlement: Settlement,
  { transactionId, attempt, landed: { error, signature, blockTime }, writes }: LandingToShow,
): Promise<void> {
  const { transaction } = await findAttempt(settlement, transactionId);
  const { status, landedAfterCancel } = transaction;
  const wasGivenUp = status === "cancelled" || (status === "failed" && transaction.reason === "expired");
  if (!wasGivenUp && status !== "completed" && status !== "failed") {
    throw new OperatorRefused(`transaction ${transactionId} is being sent, and is settled by itself`);
  }
  // A landing with an error moved nothing but its fee: the shown status is true.
  if (!wasGivenUp || landedAfterCancel || error !== null) {
    throw new OperatorRefused(`transaction ${transactionId} is settled already`);
  }
  const landedSignature = signature === attempt.signature ? null : signature;
  const finalAt = settlement.clock.now();
  const set = { landedAfterCancel: true, landedSignature, blockTime, finalAt };
  const write: FrameWrite = { table: "transactions", id: transactionId, set };
  const stored = await commitOne(settlement.storage, {
    writes: [write, ...foundRefund(transaction), ...writes],
  });
  if (!stored.ok) throw overtaken(transactionId);
}
