/** `payment` acted out: signing, sending, and reading what the chain made of it. */
import { payment } from "../../../machines/index.ts";
import type { PaymentFault } from "../../../machines/index.ts";
import type { AttemptRecord, DepositRecord, PaymentRecord } from "../../../storage/records.ts";
import type { PaymentStorage, PaymentTables, PaymentWrite } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import { workflow } from "../../engine/index.ts";
import type { Workflow } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { TransactionFault, TransactionPlan } from "../../ledger/routing.ts";
import { signTransaction } from "../../ledger/sign-transaction.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import type { Clock, Logger } from "../../runtime.ts";
import { faultOfExchange, isOutdated, isProvidersFault } from "../swap/plan-exchange.ts";
import { releaseReserved } from "../swap/reserve.ts";
import type { DepositKeys } from "./deposit-keys.ts";
import { findMark } from "./find-mark.ts";
import { allowanceLeft, costOfLanding, SPONSOR_CAP } from "./sponsor-allowance.ts";
import { isReturn } from "./plan-return.ts";
import { readPlan, withSeeds, writePlan } from "./stored-plan.ts";
import type { StoredPlan } from "./stored-plan.ts";
import { holdAddress, UNKNOWN_SPENDING } from "./unknown-spending.ts";
import type { SpendingCheck } from "./unknown-spending.ts";

/** The registered chart of payments that the service signs. */
export type PaymentWorkflow = Workflow<typeof payment, PaymentTables>;

/** A payment with everything that its next attempt is made of. */
interface PaymentInHand {
  readonly row: PaymentRecord;
  readonly deposit: DepositRecord;
  readonly stored: StoredPlan;
  readonly plan: TransactionPlan;
}

/** What a held address says of itself when a payment out of it cannot be made, and nothing shows that it ever can. */
const CANNOT_BE_MADE = "payment_cannot_be_made";
/** So many tries take a quarter of an hour. */
const MOST_TRIES = 20;

export function paymentWorkflow({
  storage,
  ledger,
  clock,
  log,
  keys,
  sponsor,
  treasury,
  cosigners,
  hasPaidWithoutUs,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keys: DepositKeys;
  readonly sponsor: Signer;
  readonly treasury: Address;
  /** Who else signs where a transaction needs it: whoever gives the other side of an exchange. */
  readonly cosigners: readonly Signer[];
  readonly hasPaidWithoutUs: SpendingCheck;
}): PaymentWorkflow {
  const load = async (paymentId: string): Promise<PaymentInHand> => {
    const row = await storage.payment(paymentId);
    const [deposit] = row === null ? [] : await storage.deposits([row.address]);
    if (row === null || deposit === undefined) throw new Error(`payment ${paymentId} is not stored`);
    const stored = readPlan(row.plan);
    return { row, deposit, stored, plan: withSeeds(stored, (mark) => keys.seed(deposit, mark)) };
  };

  /** Nothing is signed for an address that pays without us: this database may be an old copy of another one. */
  const hold = async (deposit: DepositRecord, reason: string): Promise<never> => {
    await holdAddress(storage, deposit.id, reason);
    throw new Error(`deposit address ${deposit.id} is held: ${reason}`);
  };

  const markerOf = (row: PaymentRecord, deposit: DepositRecord): Address =>
    ledger.markerAddress(row.address as Address, keys.seed(deposit, row.mark));

  /** Whether rent has risen since the plan lent the address what it must hold; another plan lends more. */
  const lendsTooLittle = async ({ movements }: StoredPlan): Promise<boolean> => {
    const loan = movements.find(({ kind }) => kind === "loan");
    return loan !== undefined && BigInt(loan.amount) < (await ledger.rentMinimum(0));
  };

  const refuseHeld = ({ id, heldReason }: DepositRecord): void => {
    if (heldReason !== null) throw new Error(`deposit address ${id} is held: ${heldReason}`);
  };

  return workflow(payment)<PaymentTables>({
    version: 1,
    effects: {
      // Whatever comes of it is committed before the first byte leaves: the bytes, their signature and their last height.
      sign: async ({ paymentId }, { failures }) => {
        const { row, deposit, stored, plan } = await load(paymentId);
        refuseHeld(deposit);
        // The marker of what another self of this database has paid may be swept already: it would refuse nothing.
        if (await hasPaidWithoutUs(deposit.id)) return hold(deposit, UNKNOWN_SPENDING);
        const signer = keys.signer(deposit);
        if (signer.address !== row.address) throw new Error(`the key of ${row.address} cannot be derived`);
        const unsigned = await ledger.buildTransaction(plan);
        const found = await ledger.tryTransaction(plan, unsigned);
        const fault = found && faultOfExchange(row, plan, found);
        if (fault?.kind === "marked") {
          const [mark] = (await ledger.funds([markerOf(row, deposit)], [], "finalized")).funds;
          if (mark?.lamports === 0n) throw new Error(`the marker of payment ${paymentId} is not final yet`);
          return { event: { type: "MARKED" } };
        }
        if (isOutdated(row, clock.now())) return { event: { type: "REFUSED", fault: OUTDATED } };
        if (fault !== null) {
          const isDecided =
            isFinal(fault, row) ||
            isProvidersFault(row, plan, fault) ||
            (fault.kind === "source" && (await lendsTooLittle(stored)));
          if (isDecided) return { event: { type: "REFUSED", fault: faultOf(fault) } };
          if (isNobodysToMend(fault) && failures >= MOST_TRIES) return hold(deposit, CANNOT_BE_MADE);
          // Anything else may pass: the task stays, and comes back after a growing pause.
          throw new Error(`payment ${paymentId} cannot be made now: ${fault.kind}, ${fault.error}`);
        }
        const purses = { sponsor: sponsor.address, ours: [row.address, treasury] };
        const cost = await costOfLanding(ledger, purses, plan, unsigned.networkFee);
        // A sweep brings back more than it costs.
        if (row.kind !== "sweep" && cost > (await allowanceLeft(storage, row))) {
          return hold(deposit, SPONSOR_CAP);
        }
        const signed = await signTransaction(unsigned, [sponsor, signer, ...cosigners]);
        const attempt: AttemptRecord = {
          id: signed.signature,
          messageHash: signed.messageHash,
          transactionId: row.transactionId,
          bytes: signed.bytes,
          blockhash: signed.blockhash,
          lastValidBlockHeight: signed.lastValidBlockHeight,
          createdAt: clock.now(),
        };
        const writes: PaymentWrite[] = [
          { table: "attempts", insert: attempt },
          {
            table: "payments",
            id: paymentId,
            set: {
              signature: signed.signature,
              plan: writePlan({ ...stored, costs: [...(stored.costs ?? []), String(cost)] }),
            },
          },
        ];
        return { event: { type: "SIGNED", signature: signed.signature }, writes };
      },
      // Unknown is not failed: whatever this first send comes to, the watch sends the same bytes again and again.
      broadcast: async ({ signature }) => {
        const [attempt] = await storage.attempts([signature]);
        if (attempt === undefined) throw new Error(`the bytes of ${signature} are not stored`);
        try {
          await ledger.broadcast(attempt.bytes);
        } catch (err) {
          log.warn({ signature, err }, "a first broadcast was not acknowledged; the watch goes on with it");
        }
        return { event: { type: "BROADCAST" } };
      },
      explain: async ({ paymentId, error }) => {
        const { row, plan } = await load(paymentId);
        const fault = faultOfExchange(row, plan, await ledger.explainError(plan, error));
        return { event: { type: "EXPLAINED", fault: faultOf(fault) } };
      },
      lookForMark: async ({ paymentId }) => {
        const { row, deposit, stored } = await load(paymentId);
        const found = await findMark({ storage, ledger, keys }, { row, deposit, stored });
        if (found === "unknown") return hold(deposit, UNKNOWN_SPENDING);
        // The newest attempt is proved dead and has cost nothing.
        const set = { plan: writePlan({ ...stored, costs: (stored.costs ?? []).slice(0, -1) }) };
        return found.type === "MARK_ABSENT"
          ? { event: found, writes: [{ table: "payments", id: paymentId, set }] }
          : { event: found };
      },
    },
    watches: { attempts: ({ signature }) => signature ?? "" },
    project: ({ id, before, after }, at) => {
      const status = STATUS_OF[stateOf(after.value)];
      if (before === null || status === undefined) return [];
      const { signature, fault, reservations = [] } = after.context;
      const set = { status, signature, reason: fault === null ? null : fault.kind };
      const isOver = status === "finalized" || status === "failed";
      return [{ table: "payments", id, set }, ...(isOver ? releaseReserved(reservations, at) : [])];
    },
  });
}

/**
 * Whether trying the same again is of no use. What an address cannot pay now it may be able to pay later, but a refund or
 * a sweep of what it held a moment ago is better planned anew.
 */
function isFinal({ kind }: TransactionFault, row: PaymentRecord): boolean {
  // Anybody can make a mint, and take back at any time that it moves: what an operator sends on holds nothing else up.
  if (kind === "other") return isReturn(row);
  if (kind === "source") return row.kind !== "payout" && row.kind !== "exchange";
  return kind === "payee";
}

/** An empty sponsor is filled up, a blockhash becomes known; what else stands in the way only an operator can see. */
function isNobodysToMend({ kind }: TransactionFault): boolean {
  return kind === "source" || kind === "other";
}

const STATUS_OF: Readonly<Record<string, PaymentRecord["status"]>> = {
  "inFlight.signed": "broadcast",
  "inFlight.confirmed": "confirmed",
  finalized: "finalized",
  failed: "failed",
};

function stateOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Object.entries(value as Record<string, string>)
    .flat()
    .join(".");
}

/** Nothing was tried: the order has to find another price. */
const OUTDATED: PaymentFault = { kind: "other", move: null };

function faultOf({ kind, move }: TransactionFault): PaymentFault {
  return { kind, move };
}
