/** An operator's order to return tokens of a mint that the service does not use: its rules, and its commit. */
import type { PaymentTables } from "../tables.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { parseAddress, SOL_MINT, type Address } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import type { Engine } from "../../engine/index.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { TransactionFault } from "../../ledger/routing.ts";
import type { Assets } from "../assets/assets.ts";
import { checkPayees, invalidRecipient, refusedAmong, type ScreenAddress } from "../recipients/recipients.ts";
import type { DepositAddressWorkflow } from "./deposit-address-workflow.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { nameOfMint } from "../outgoing/plans/other-mints.ts";
import { findReturn } from "../outgoing/plans/plan-return.ts";
import { ReleaseRefused } from "./release-deposit.ts";
import { spendingReason } from "../outgoing/unknown-spending.ts";

/** The tokens of a return, and their receiver. */
export interface ReturnRequest {
  /** Any mint but the service's own assets; SOL's stands for wrapped SOL. */
  readonly mint: string;
  /** The owner who gets them; the order's `sender` when left out, like every refund. */
  readonly to?: string | undefined;
}

/** An ordered return. Amounts are decimal strings in whole units. */
export interface OrderedReturn {
  readonly transactionId: string;
  readonly address: string;
  readonly mint: string;
  readonly to: string;
  readonly amount: string;
  /**
   * The rest that needs a further order: tokens in frozen accounts, in more accounts than one transaction empties, or
   * beyond the amount that another person has asked for.
   */
  readonly left: string;
}

/** A return that a second person is asked to confirm. */
export interface ProposedReturn extends OrderedReturn {
  /** Raw units: no more goes there. */
  readonly units: bigint;
}

/** An operator's order of a return, and further writes of its commit. */
export interface ReturnCommand {
  readonly transactionId: string;
  readonly order: ReturnRequest;
  /**
   * The most, in raw units, that a first person has asked for and this person confirms; null when this person asks.
   */
  readonly confirmed: bigint | null;
  readonly writesFor: (ordered: OrderedReturn) => readonly PaymentWrite[];
  /** Keeps a return that needs two persons until the second person confirms. */
  readonly propose: (proposed: ProposedReturn) => Promise<void>;
}

interface Shared {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly keys: DepositKeys;
  readonly sponsor: Address;
}

/** Checks before tokens go to an owner other than the sender. */
interface Redirecting {
  /** Null when the host does not screen. */
  readonly screen: ScreenAddress | null;
  /** The number of people that it takes to send money to another address. */
  readonly approvals: 1 | 2;
  /** Addresses of the service's purses. They get no tokens of a customer. */
  readonly ownAddresses: readonly Address[];
}

/** Dependencies of ordering a return. */
interface Returning extends Shared, Redirecting {
  readonly engine: Engine<PaymentTables>;
  readonly addresses: DepositAddressWorkflow;
  readonly assets: Assets;
}

/**
 * Has the tokens sent as soon as a service is at work, as a payment like all others, also when the process dies;
 * ordered twice, it is done once. Works at any time later, but only once the order is over and nothing else is under way at its
 * address.
 *
 * Throws `TRANSACTION_NOT_FOUND` for what is no private transaction, `INVALID_ASSET` for what is no mint's address,
 * `INVALID_ADDRESS` and `INVALID_RECIPIENT` for a receiver who cannot be paid, `LedgerUnavailable` when the chain cannot be
 * read, and `ReleaseRefused` with a sentence for everything else; then nothing is changed.
 */
export async function orderReturn(
  { engine, addresses, assets, screen, approvals, ownAddresses, ...shared }: Returning,
  { transactionId, order, confirmed, writesFor, propose }: ReturnCommand,
): Promise<OrderedReturn> {
  const { storage, ledger, sponsor } = shared;
  const view = await storage.transaction(transactionId);
  const [deposit] = await storage.deposits([view?.transaction.depositAddress ?? ""]);
  if (view === null || deposit === undefined) {
    throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  }
  const mint = readMint(assets, order.mint);
  const { sender, senderAllowOffCurve } = view.transaction;
  if (sender === "" && order.to === undefined) {
    throw new ReleaseRefused(
      `deposit address ${deposit.id} was recovered, and its sender is not known: name the owner who gets the tokens`,
    );
  }
  const named = order.to ?? sender;
  const allowOffCurve = senderAllowOffCurve && named === sender;
  const to = await readReceiver({ storage, ledger, sponsor, assets }, named, allowOffCurve);
  const isElsewhere = to !== sender;
  if (isElsewhere) await checkElsewhere({ screen, ownAddresses }, to, transactionId);
  await refuseWhileHeld(shared, deposit);
  const bound = confirmed === null ? {} : { atMost: confirmed };
  const found = await findReturn(shared, { deposit, payments: view.payments, mint, to, ...bound });
  if (found === "nothing") throw new ReleaseRefused(nothingOf(mint, deposit.id));
  if ("kind" in found) throw new ReleaseRefused(`${mint} cannot be sent to ${to}: ${sentenceOf(found)}`);
  const { amount, held, decimals } = found;
  const ordered = {
    transactionId,
    address: deposit.id,
    mint,
    to,
    amount: formatAmount(amount, decimals),
    left: formatAmount(held - amount, decimals),
  };
  if (isElsewhere && approvals === 2 && confirmed === null) {
    await propose({ ...ordered, units: amount });
    return ordered;
  }
  const event = { type: "RETURN", mint, to, atMost: String(amount) } as const;
  const sent = await engine.send(addresses, deposit.id, event, { writes: writesFor(ordered) });
  if (sent.kind === "refused") {
    throw new ReleaseRefused(`somebody else has just decided about tokens at deposit address ${deposit.id}`);
  }
  if (sent.kind !== "stepped") {
    throw new ReleaseRefused(
      `deposit address ${deposit.id} is at work, with its order or with a payment: try again when it has come to rest`,
    );
  }
  return ordered;
}

function nothingOf(mint: Address, address: Address): string {
  const nothing = `deposit address ${address} holds nothing of ${mint}`;
  if (mint !== SOL_MINT) return nothing;
  return `${nothing} that may be moved: wrapped SOL elsewhere than in its associated account may be the marker of a payment`;
}

function readMint(assets: Assets, text: string): Address {
  const parsed = parseAddress(text);
  if ("fault" in parsed) throw new PaymentError("INVALID_ASSET", { asset: text });
  const own = assets.ofMint(nameOfMint(parsed.address));
  if (own !== null) {
    throw new ReleaseRefused(
      `${own.symbol} goes back to the sender by itself: release the address without a mint`,
    );
  }
  return parsed.address;
}

/** Any wallet that can be paid, but no address of ours: the money would not be looked for there. */
async function readReceiver(
  { storage, ledger, sponsor, assets }: Omit<Shared, "keys"> & Pick<Returning, "assets">,
  text: string,
  allowOffCurve: boolean,
): Promise<Address> {
  const parsed = parseAddress(text);
  if ("fault" in parsed) throw new PaymentError("INVALID_ADDRESS", { address: text });
  const { address } = parsed;
  const isOurs = address === sponsor || (await storage.deposits([address])).length > 0;
  if (isOurs) throw invalidRecipient(0, address, "own_address");
  await checkPayees({ ledger, assets }, [{ recipient: address, allowOffCurve }], null);
  return address;
}

/** The sender was judged with the order, anybody else was not. */
async function checkElsewhere(
  { screen, ownAddresses }: Pick<Redirecting, "screen" | "ownAddresses">,
  to: Address,
  transactionId: string,
): Promise<void> {
  if (ownAddresses.includes(to)) throw invalidRecipient(0, to, "own_address");
  if (screen === null) return;
  const party = { address: to, role: "recipient" } as const;
  const refused = await refusedAmong(screen, [party], transactionId).catch((cause: unknown) => {
    throw new ReleaseRefused(`the host's screening cannot tell about ${to} now`, { cause });
  });
  if (refused.length > 0) throw new ReleaseRefused(`the host's screening refuses ${to}`);
}

async function refuseWhileHeld({ storage, ledger }: Shared, deposit: DepositRecord): Promise<void> {
  const { id, heldReason } = deposit;
  const reason = heldReason ?? (await spendingReason({ storage, ledger }, deposit));
  if (reason === null) return;
  throw new ReleaseRefused(`deposit address ${id} is held (${reason}): release it first, without a mint`);
}

function sentenceOf({ kind, error }: TransactionFault): string {
  switch (kind) {
    case "payee":
      return "the receiver's account cannot take it";
    case "source":
      return "its accounts at the deposit address are frozen, or have just changed";
    case "fee_payer":
      return "the sponsor has too few lamports";
    default:
      return `the chain would refuse it (${error})`;
  }
}
