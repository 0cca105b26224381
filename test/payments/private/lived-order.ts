/** Orders of a random life: the people in them, how they are placed, and what is paid in for them. */
// modules: private
import type { Address } from "../../../src/core/address.ts";
import { formatAmount } from "../../../src/core/amount.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { units } from "../../kit/money.ts";
import type { Payers } from "./payers.ts";
import { ASSETS, type Asset, type Happening, type HowMuch, type OrderWords } from "./random-life.ts";
import { orderedAs, SOL, type Ordered } from "./scene.ts";

/** Who takes part in an order. */
export interface Parties {
  readonly words: OrderWords;
  readonly sender: Wallet;
  /** Where an operator may have its money sent. */
  readonly elsewhere: Wallet;
  readonly payees: readonly { readonly wallet: Wallet; readonly amount: bigint }[];
}

/** An order that was taken, and what the world outside knows of it. */
export interface LivedOrder extends Parties, Ordered {
  /** What the order keeps when anybody is paid: all that is asked for but the recipients' sum. */
  readonly fee: bigint;
  /** What outsiders have paid in, as the chain took it. */
  readonly sent: Record<Asset, bigint>;
  /** What a thief has taken. */
  readonly stolen: Record<Asset, bigint>;
  /** The lengths of markers that a thief has made, by chunk. */
  readonly forged: Map<number, number>;
  /** What operators have approved to be sent elsewhere. */
  readonly approved: Record<Asset, bigint>;
  /** Of a private swap what it gives and what it was promised, in base units; null of any other. */
  readonly swap: { readonly gives: bigint; readonly gets: bigint } | null;
  /** Whether somebody whom the host refuses has paid in. */
  hasRefusedPayer: boolean;
  /** Whether the issuer ever froze its sender's account. */
  wasSenderFrozen: boolean;
  /** Whether an operator has ever held it. */
  wasHeld: boolean;
  /** Whether money came where it does not count: who gave it is not known once it was collected. */
  cameBeside: boolean;
  /** Lamports that came as wrapped SOL: they are the sender's once they were collected. */
  wrapped: bigint;
  /** How often money came, or was approved to go elsewhere: each may be followed by a refund. */
  refundable: number;
}

/** How many decimals a whole unit has. */
export const decimalsOf = (asset: Asset): number => (asset === "SOL" ? 9 : 6);
/** Amounts of a life are base units of the stablecoins. */
export const inUnits = (amount: number, asset: Asset): bigint =>
  BigInt(amount) * (asset === "SOL" ? 1_000n : 1n);

/** Nobody in it has anything to do with another order. */
export function partiesOf(world: PrivateFixture, words: OrderWords, order: number): Parties {
  const everything = { lamports: SOL, usdc: 1n, usdt: 1n };
  const sender = words.sender === "withoutTokens" ? { lamports: SOL } : everything;
  return {
    words,
    sender: world.wallet(`sender ${order}`, sender),
    elsewhere: world.wallet(`elsewhere ${order}`, everything),
    payees: words.payees.map(({ amount, kind }, index) => ({
      wallet: world.wallet(`payee ${order} ${index}`, kind === "new" ? {} : everything),
      amount: inUnits(amount, words.asset),
    })),
  };
}

/** Quotes and posts an order; then whoever is to be frozen is frozen. */
export async function placeOrder(
  world: PrivateFixture,
  service: PaymentService,
  caller: Caller,
  parties: Parties,
): Promise<LivedOrder> {
  const { words, sender, payees } = parties;
  const { asset } = words;
  const recipients = payees.map(({ wallet, amount }) => ({
    address: wallet.address,
    amount: formatAmount(amount, decimalsOf(asset)),
  }));
  const sum = payees.reduce((total, { amount }) => total + amount, 0n);
  const { body: quote } = await service.createQuote(caller, {
    inputAsset: asset,
    outputAsset: asset,
    amount: formatAmount(sum, decimalsOf(asset)),
    mode: "private",
    recipients,
  });
  const { body } = await service.createTransaction(caller, {
    type: payees.length === 1 ? "send" : "payroll",
    mode: "private",
    quoteId: quote.quoteId,
    sender: sender.address,
    recipients,
  });
  if (asset !== "SOL") {
    const bad = payees.filter((_, index) => words.payees[index]?.kind === "bad");
    for (const { wallet } of bad) await world.freeze(wallet, asset);
    if (words.sender === "frozen") await world.freeze(sender, asset);
  }
  const ordered = orderedAs(body as CreatedOrderBody);
  const wasSenderFrozen = words.sender === "frozen" && asset !== "SOL";
  return { ...parties, ...ordered, ...untouched(), wasSenderFrozen, fee: ordered.due - sum, swap: null };
}

/** So much is swapped, in SOL, of which the fee is taken. */
const SWAPPED = "0.2";

/** Quotes and posts a private swap of SOL for USDC. */
export async function placeSwap(
  service: PaymentService,
  caller: Caller,
  parties: Parties,
): Promise<LivedOrder> {
  const { address } = parties.sender;
  const { body: quote } = await service.createQuote(caller, {
    inputAsset: "SOL",
    outputAsset: "USDC",
    amount: SWAPPED,
    mode: "private",
    sender: address,
  });
  const { body } = await service.createTransaction(caller, {
    type: "swap",
    mode: "private",
    quoteId: quote.quoteId,
    sender: address,
    recipients: [{ address, amount: quote.outputAmount }],
  });
  const ordered = orderedAs(body as CreatedOrderBody);
  const fee = units(quote.fee, 9);
  const swap = { gives: ordered.due - fee, gets: units(quote.outputAmount, 6) };
  return { ...parties, ...ordered, ...untouched(), fee, swap };
}

/** Nothing has happened to it. */
function untouched(): Omit<LivedOrder, keyof Parties | keyof Ordered | "fee" | "swap"> {
  const nothing = { SOL: 0n, USDC: 0n, USDT: 0n };
  return {
    sent: { ...nothing },
    stolen: { ...nothing },
    approved: { ...nothing },
    forged: new Map(),
    hasRefusedPayer: false,
    wasSenderFrozen: false,
    wasHeld: false,
    cameBeside: false,
    wrapped: 0n,
    refundable: 0,
  };
}

/** Pays in for an order, in so many parts. What the chain does not take, such as too few lamports, was not sent. */
export async function payIn(
  people: Payers,
  order: LivedOrder,
  { howMuch, asset: which, by }: Extract<Happening, { does: "deposit" }>,
): Promise<void> {
  const { address, due, sent, words } = order;
  const to = address as Address;
  const asset = ASSETS[(ASSETS.indexOf(words.asset) + which) % ASSETS.length] ?? "SOL";
  // Of an asset that is not asked for, two dollars or so.
  const amount = amountOf(howMuch, asset, which === 0 ? due : inUnits(2_000_000, asset), sent[asset]);
  const parts = typeof by === "number" ? BigInt(by) : 1n;
  const first = by === "refused" ? people.refused : 0;
  for (let part = 0n; part < parts; part++) {
    const share = (amount * (part + 1n)) / parts - (amount * part) / parts;
    if (share <= 0n) continue;
    const isBeside = by === "stray" && asset !== "SOL";
    const hasLanded = await (isBeside
      ? people.payBeside(0, to, asset, share)
      : people.pay(first + Number(part), to, asset, share));
    if (hasLanded) sent[asset] += share;
    order.refundable += 1;
    if (hasLanded && by === "refused") order.hasRefusedPayer = true;
    if (hasLanded && isBeside) order.cameBeside = true;
  }
}

function amountOf(howMuch: HowMuch, asset: Asset, due: bigint, sent: bigint): bigint {
  const least = inUnits(1_000, asset);
  const amounts: Readonly<Record<HowMuch, bigint>> = {
    exact: due,
    under: due / 2n,
    // Enough to pay everybody twice, should anybody try.
    over: due * 2n + 7n,
    rest: due - sent,
    dust: least / 20n,
    least,
  };
  return amounts[howMuch];
}
