/** The operator's word on a deposit address: what is held may move, and what is closed is looked at once more. */
import type { PaymentTables } from "../tables.ts";
import type { DepositRecord, VouchingRecord } from "../tables/deposits.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Engine, SendResult } from "../../engine/index.ts";
import type { Address } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import type { Assets } from "../assets/assets.ts";
import type { DepositAddressWorkflow } from "./deposit-address-workflow.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import type { ServiceContext } from "../service-context.ts";
import { depositContext } from "../deposit-context.ts";
import { uncheckedTime } from "../life-sign-loop.ts";
import { isoTime } from "../iso-time.ts";
import { hasOpenForRecipients } from "../outgoing/declined.ts";
import { OtherCopyReader } from "../outgoing/other-copy-payment.ts";
import { checked, explanationOf, unknownSpending } from "../outgoing/unknown-spending.ts";
import { boundAgain } from "../purses/sponsor-limit.ts";
import { repeatableSpending } from "./repeatable-spending.ts";
import { moneyThere, type MoneyParts, type VouchingEvidence } from "./vouched-funds.ts";

/** A released deposit. */
export interface ReleasedDeposit {
  readonly transactionId: string;
  readonly address: string;
  /** The reason why the address was held; null for an address that was not held. */
  readonly heldReason: string | null;
  /** Transactions of the address that this database did not know and that the operator has hereby vouched for. */
  readonly explained: readonly string[];
  /**
   * A time in which this database was not at work, from and to in ISO 8601: the operator vouches that no payment other
   * than the named ones was made in that time. Null when all time was checked.
   */
  readonly vouchedTime: { readonly from: string; readonly to: string } | null;
  /** The money received by then. Later money is judged anew. */
  readonly vouchedFor: {
    /** The transactions that brought the money, as far as nodes list them. */
    readonly signatures: readonly string[];
    /** Amounts in whole units, by mint. */
    readonly amounts: Readonly<Record<string, string>>;
  };
  /**
   * Amounts that may go to an address other than the sender's, network costs included, in whole units by mint; null for
   * a refund to the sender.
   */
  readonly allowed: Readonly<Record<string, string>> | null;
}

/** The address may not be released; the message says what to do. */
export class ReleaseRefused extends Error {
  override readonly name = "ReleaseRefused";
}

/** The address made a step while its money was read. */
class StepMadeMeanwhile extends ReleaseRefused {}

/** The release of an address, and further writes of its commit. */
export interface ReleaseRequest {
  /**
   * The receiver of all money, with no recipient paid; null when recipients are paid and the rest goes to the sender.
   * `money` is the money that a second person was asked to agree with; null for the present money.
   */
  readonly refundTo: { readonly to: Address; readonly money: VouchingEvidence | null } | null;
  /** A guard, read before the address and written in the same commit: of concurrent decisions only one succeeds. */
  readonly guardOf: (address: string) => Promise<PaymentWrite>;
  /** Further writes of the same commit. */
  readonly writesFor: (released: ReleasedDeposit) => readonly PaymentWrite[];
}

interface ReleaseParts extends MoneyParts, Pick<ServiceContext, "clock"> {
  readonly keys: DepositKeys;
  readonly engine: Engine<PaymentTables>;
  readonly addresses: DepositAddressWorkflow;
}

/**
 * Releases an address from a hold of any reason, and settles the address again, also when it is closed and however old. Throws
 * `TRANSACTION_NOT_FOUND` for what is no private transaction, `LedgerUnavailable` when the chain cannot be read.
 *
 * By a release the operator says that every transaction of the address was rightly signed, that the payers so far
 * may be served, and that the sponsor may spend as much again as it was allowed at first. Throws `ReleaseRefused` where that
 * word is not enough (see `refuseUnlessRecognised`), and when another decision about the address was committed first. Reads
 * once more where the address has made a step meanwhile: one of an earlier version makes it when it is first spoken to.
 */
export async function releaseDeposit(
  ...asked: readonly [parts: ReleaseParts, transactionId: string, order: ReleaseRequest]
): Promise<ReleasedDeposit> {
  try {
    return await releaseNow(...asked);
  } catch (error) {
    if (!(error instanceof StepMadeMeanwhile)) throw error;
    return await releaseNow(...asked);
  }
}

async function releaseNow(
  { clock, keys, engine, addresses, ...parts }: ReleaseParts,
  transactionId: string,
  order: ReleaseRequest,
): Promise<ReleasedDeposit> {
  const { storage, ledger, assets } = parts;
  const view = await storage.transaction(transactionId);
  const address = view?.transaction.depositAddress ?? "";
  const guard = await order.guardOf(address);
  const [deposit] = await storage.deposits([address]);
  if (view === null || deposit === undefined) {
    throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  }
  if (order.refundTo === null && view.transaction.sender === "") {
    throw new ReleaseRefused(
      `deposit address ${deposit.id} was recovered, and its sender is not known: say where its money goes by refundTo`,
    );
  }
  const explained = await unknownSpending({ storage, ledger }, deposit.id);
  // Sent elsewhere, it ends an order that is open: no recipient is paid.
  const isOpen = !OVER.has(view.transaction.status);
  const paysOn = isOpen && order.refundTo === null;
  if (paysOn) await refuseUnlessRecognised({ ...parts, keys }, { ...view, deposit }, explained);
  const now = await moneyThere(parts, deposit);
  if (now === null) throw new ReleaseRefused(atWork(deposit.id));
  const time = uncheckedTime(await storage.lives(), deposit);
  const { refundTo } = order;
  const money = refundTo?.money ?? now;
  const released: ReleasedDeposit = {
    transactionId,
    address: deposit.id,
    heldReason: deposit.heldReason,
    explained,
    vouchedTime: time === null ? null : { from: isoTime(time.from), to: isoTime(time.to) },
    vouchedFor: { signatures: money.signatures, amounts: shownAmounts(money.came, assets) },
    allowed: refundTo === null ? null : shownAmounts(money.there, assets),
  };
  const word: VouchingRecord = {
    id: `${deposit.id}:${now.step}`,
    step: now.step,
    at: clock.now(),
    ...coveredBy(order, money, deposit.id),
  };
  const writes: PaymentWrite[] = [
    guard,
    ...order.writesFor(released),
    { table: "deposits", id: deposit.id, set: { heldReason: null } },
    ...(time === null ? [] : [checked(deposit, time.to)]),
    ...(paysOn ? await boundAgain(storage, deposit) : []),
    { table: "vouchings", insert: word },
    ...explained.map((signature) => explanation(signature, transactionId)),
  ];
  const elsewhere = new OtherCopyReader({ ...parts, keys });
  // An order that another copy has paid ends as paid, wherever the rest goes.
  const paysNobody = refundTo !== null && !(isOpen && (await elsewhere.hasPaidRecipients(deposit, view)));
  const type = paysNobody ? "REDIRECT" : "RELEASE";
  await giveWord({ storage, engine, addresses }, word, { type, writes });
  return released;
}

/** The fact that an operator vouches for a signature. */
function explanation(signature: string, transactionId: string): PaymentWrite {
  return { table: "facts", insert: { id: explanationOf(signature), value: transactionId } };
}

/** An operator's decision about an address, and further writes of its commit. */
interface Decided {
  readonly type: "RELEASE" | "REDIRECT";
  readonly writes: readonly PaymentWrite[];
}

async function giveWord(
  { storage, engine, addresses }: Pick<ReleaseParts, "storage" | "engine" | "addresses">,
  word: VouchingRecord,
  { type, writes }: Decided,
): Promise<void> {
  const { address, step: expectedVersion } = word;
  const sent = await engine.send(addresses, address, { type }, { writes, expectedVersion });
  if (sent.kind === "unchanged") throw new ReleaseRefused(atWork(address));
  if (sent.kind === "refused") throw await refusalOf(storage, sent, word);
  if (sent.kind !== "stepped") {
    throw new Error(`deposit address ${address} could not be released: ${sent.kind}`);
  }
}

/**
 * The reason why the release was not committed: another decision came first, or the address made a step after its money
 * was read.
 */
async function refusalOf(
  storage: Pick<PaymentStorage, "vouchings">,
  { result }: Extract<SendResult, { kind: "refused" }>,
  { id, address }: VouchingRecord,
): Promise<ReleaseRefused> {
  const isDecided =
    result.conflict !== "step" || (await storage.vouchings(address)).some((word) => word.id === id);
  return isDecided
    ? new ReleaseRefused(`somebody else has just decided about deposit address ${address}`)
    : new StepMadeMeanwhile(atWork(address));
}

/** The part of this money that a release covers. */
function coveredBy(
  { refundTo }: ReleaseRequest,
  { slot, signatures, came, there }: VouchingEvidence,
  address: string,
): Omit<VouchingRecord, "id" | "step" | "at"> {
  const elsewhere =
    refundTo === null ? { refundTo: null, allowed: null } : { refundTo: refundTo.to, allowed: there };
  return { address, slot, signatures, came, ...elsewhere };
}

function atWork(address: string): string {
  return `deposit address ${address} is at work: try again when it has come to rest`;
}

/** Amounts above zero in whole units, by mint. */
export function shownAmounts(
  units: VouchingEvidence["came"],
  assets: Assets,
): Readonly<Record<string, string>> {
  const some = Object.entries(units).filter(([, amount]) => amount !== "0");
  return Object.fromEntries(
    some.map(([mint, amount]) => [mint, formatAmount(BigInt(amount), assets.named(mint).decimals)]),
  );
}

/** An open order that only waits for its refund has told its address that no recipient is paid any more. */
async function mayPayRecipients(
  storage: PaymentStorage,
  { id }: DepositRecord,
  { payments }: TransactionView,
): Promise<boolean> {
  return hasOpenForRecipients(payments) || !(await depositContext(storage, id)).isOver;
}

/**
 * While an order is open, its payouts go on once its address is released. An unknown transaction may have made the same
 * payouts already. So every unknown transaction must have made an existing marker: then the chain refuses a second
 * payment.
 */
async function refuseUnlessRecognised(
  { storage, ...parts }: Pick<ReleaseParts, "storage" | "ledger" | "keys" | "assets">,
  paid: TransactionView & { readonly deposit: DepositRecord },
  unknown: readonly string[],
): Promise<void> {
  const { deposit } = paid;
  if (!(await mayPayRecipients(storage, deposit, paid))) return;
  const doubtful = await repeatableSpending(parts, paid, unknown);
  if (doubtful.length === 0) return;
  throw new ReleaseRefused(
    `deposit address ${deposit.id} has signed ${doubtful.join(", ")}, which this database does not know, while its order ` +
      "is still open here: released, it could pay somebody twice. Go on with the newest copy of the database that there " +
      "is, or send what is there elsewhere by refundTo",
  );
}

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
