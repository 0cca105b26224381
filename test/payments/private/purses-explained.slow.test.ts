/** E12: after a mixed life each purse holds what it held before and everything that the reconciliation explains. */
// modules: private
import { AccountLayout } from "@solana/spl-token";
import { afterEach, expect, test } from "vitest";
import { SOL_MINT, type Address } from "../../../src/core/address.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import type { AddressTally } from "../../../src/payments/private/reconcile/tally.ts";
import type { TransactionBody } from "../../../src/payments/frame/transactions/transaction-schema.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/money.ts";
import { swapFixture, type SwapFixture } from "../../kit/swap-fixture.ts";
import { feesBurnt, lamportsAt, photograph, possession, type Photograph } from "./photograph.ts";
import { MINUTE, orderedAs, SOL, type Ordered } from "./scene.ts";

let world: SwapFixture;
afterEach(() => world.close());

/** SOL at 150 dollars. */
const MARKET: PriceSource = {
  async rate(give, get) {
    const worth = (mint: string): bigint => (mint === SOL_MINT ? SOL : 150_000_000n);
    return { give: worth(give), get: worth(get) };
  },
};
const ASSETS = ["SOL", "USDC", "USDT"] as const;
type Asset = (typeof ASSETS)[number];
const DECIMALS: Readonly<Record<string, number>> = { SOL: 9, USDC: 6, USDT: 6 };
/** What the swaps of each mode give. */
const SWAPPED = { wallet: "0.5", private: "0.3" } as const;

/** A transfer to a deposit address; `amount` in base units. */
interface PaidIn {
  readonly from: Wallet;
  readonly asset: Asset;
  readonly amount: bigint;
}

/** Those who take part, and what they do. */
class MixedLife {
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly carol: Wallet;
  readonly dave: Wallet;
  readonly frozen: Wallet;
  readonly payees: readonly Wallet[];
  readonly paidIn: PaidIn[] = [];
  readonly #customer: Caller;
  readonly #refused: Set<string>;

  constructor(customer: Caller, refused: Set<string>) {
    this.#customer = customer;
    this.#refused = refused;
    this.alice = world.wallet("alice", { lamports: 10n * SOL, usdc: 1_000_000_000n });
    this.bob = world.wallet("bob", { lamports: SOL, usdc: 1n });
    this.carol = world.wallet("carol", { lamports: SOL, usdc: 50_000_000n });
    this.dave = world.wallet("dave", { lamports: SOL });
    this.frozen = world.wallet("frozen", { lamports: SOL, usdc: 1n });
    this.payees = Array.from({ length: 6 }, (_, index) => world.wallet(`payee ${index}`, { lamports: SOL }));
  }

  async walletSend(): Promise<string> {
    const words = { from: this.alice, to: this.bob.address, amount: "1" };
    const { transactionId } = await world.send(this.#customer, words);
    await world.finalize();
    return transactionId;
  }

  async walletSwap(): Promise<string> {
    const words = { sender: this.alice, give: "SOL", get: "USDC", amount: SWAPPED.wallet };
    const { body } = await world.swap(this.#customer, words);
    await world.finalize();
    return body.transactionId;
  }

  /** Three dollars too much. */
  async send(): Promise<Ordered> {
    const order = await this.#order([this.bob], "5");
    await this.pay(order, { from: this.alice, asset: "USDC", amount: order.due + 3_000_000n });
    return order;
  }

  async payrollWithFrozenPayee(): Promise<Ordered> {
    const order = await this.#order([...this.payees, this.frozen], "2");
    await world.freeze(this.frozen, "USDC");
    await this.pay(order, { from: this.alice, asset: "USDC", amount: order.due });
    return order;
  }

  async privateSwap(): Promise<Ordered> {
    const words = { sender: this.alice, give: "SOL", get: "USDC", amount: SWAPPED.private };
    const order = orderedAs((await world.orderSwap(this.#customer, words)).body);
    await this.pay(order, { from: this.alice, asset: "SOL", amount: order.due });
    return order;
  }

  /** Cancelled, and paid for all the same. */
  async cancelled(): Promise<Ordered> {
    const order = await this.#order([this.bob], "4");
    await world.service.cancelTransaction(this.#customer, order.id);
    await this.pay(order, { from: this.alice, asset: "USDC", amount: order.due });
    return order;
  }

  /** Paid by somebody whom the screening refuses; what came goes to dave. */
  async heldAndResolved(): Promise<Ordered> {
    const order = await this.#order([this.bob], "6");
    this.#refused.add(this.carol.address);
    await this.pay(order, { from: this.carol, asset: "USDC", amount: order.due });
    const { operator } = world.service;
    const [matter, by] = [`held:${order.id}`, { actor: "ann", reason: "drill" }];
    await operator.resolve(matter, { action: "decline" }, by);
    await world.settle(4);
    const address = this.dave.address;
    await operator.resolve(matter, { action: "refundTo", address }, by);
    await operator.approve(matter, { address }, by);
    await world.settle(8);
    await operator.resolve(matter, { action: "release" }, by);
    return order;
  }

  async pay({ address }: Pick<Ordered, "address">, paid: PaidIn): Promise<void> {
    const { from, asset, amount } = paid;
    this.paidIn.push(paid);
    await world.move(from, {
      does: "transfer",
      mint: asset === "SOL" ? null : world.mints[asset],
      decimals: DECIMALS[asset] ?? 0,
      from: from.address,
      to: address as Address,
      amount,
      accountPayer: asset === "SOL" ? null : from.address,
    });
    await world.settle(10);
  }

  shown(id: string): Promise<TransactionBody> {
    return world.service.transaction(this.#customer, id);
  }

  /** Base units that somebody has paid in; all that was paid in where nobody is named. */
  sumPaidIn(asset: Asset, payer?: Wallet): bigint {
    return sum(
      this.paidIn
        .filter((each) => each.asset === asset && (payer ?? each.from) === each.from)
        .map(({ amount }) => amount),
    );
  }

  /** Rent of the token accounts that somebody has opened at deposit addresses: each payment in tokens opened one. */
  rentPaid(rent: bigint, payer?: Wallet): bigint {
    const opened = this.paidIn.filter(({ asset, from }) => asset !== "SOL" && (payer ?? from) === from);
    return BigInt(opened.length) * rent;
  }

  async #order(to: readonly Wallet[], amount: string): Promise<Ordered> {
    const shares = to.map(({ address }) => ({ address, amount }));
    return orderedAs((await world.order(this.#customer, { sender: this.alice, to: shares })).body);
  }
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n);

const refundedIn = ({ refunds }: TransactionBody): bigint =>
  sum(refunds.map(({ amount, asset }) => units(amount ?? "", DECIMALS[asset] ?? 0)));

/** What refunds have withheld. */
const costsIn = ({ refunds }: TransactionBody): bigint =>
  sum(refunds.map(({ cost, asset }) => (cost === "0" ? 0n : units(cost ?? "", DECIMALS[asset] ?? 0))));

/** What a swap has paid, in base units of USDC. */
const paidOutIn = ({ recipients }: TransactionBody): bigint => units(recipients[0]?.amount ?? "", 6);

type Sums = AddressTally;

/** The sums of a reconciliation in base units. */
function sumsOf(assets: readonly { readonly asset: string }[], asset: Asset): Sums {
  const sums = Object.entries(assets.find((each) => each.asset === asset) ?? {});
  return Object.fromEntries(
    sums
      .filter(([name]) => name !== "asset")
      .map(([name, amount]) => [name, amount === "0" ? 0n : units(amount, DECIMALS[asset] ?? 0)]),
  ) as unknown as Sums;
}

/** What an owner has more in the second photograph, in the order of `ASSETS`. */
function gainOf(owner: string, before: Photograph, after: Photograph): readonly bigint[] {
  return ASSETS.map((asset) => {
    const mint = asset === "SOL" ? null : world.mints[asset];
    return possession(after, owner, mint) - possession(before, owner, mint);
  });
}

/** Token accounts of these owners that are in the second photograph only. */
function accountsMade(owners: readonly Wallet[], before: Photograph, after: Photograph): bigint {
  const old = new Set(before.accounts.map(({ address }) => address));
  const names = new Set<string>(owners.map(({ address }) => address));
  return BigInt(
    after.accounts.filter(
      ({ address, owner, tokens }) => tokens !== null && names.has(owner) && !old.has(address),
    ).length,
  );
}

/** Lamports on the markers of these orders. */
async function markersOf(orders: readonly Ordered[]): Promise<bigint> {
  const seeds = ["0", "1", "r0"];
  const markers = orders.flatMap(({ address }) =>
    seeds.map((seed) => world.ledger.markerOf(address as Address, seed)),
  );
  return sum(await Promise.all(markers.map((marker) => lamportsAt(world.chain, marker))));
}

test("E12: after sends, a payroll with a bad payee, swaps, refunds, a held order and a late deposit, every purse has gained to the base unit what the reconciliation explains", async () => {
  const refused = new Set<string>();
  const screen = async (address: string) => (refused.has(address) ? ("refused" as const) : ("ok" as const));
  world = await swapFixture({ routing: { screen }, desk: { prices: MARKET } });
  const life = new MixedLife(await world.caller("enterprise"), refused);
  const { alice, bob, carol, dave } = life;
  const { sponsor, treasury, desk, chain } = world;
  chain.advance(35);
  const before = await photograph(chain);

  const walletSend = await life.shown(await life.walletSend());
  const walletSwap = await life.shown(await life.walletSwap());
  const feesOfAlice = async (): Promise<bigint> =>
    (await feesBurnt(chain, [alice.address], before.slot)).get(alice.address) ?? 0n;
  expect(await feesOfAlice()).toBe(sum([walletSend, walletSwap].map(({ fee }) => units(fee ?? "", 9))));
  const orders = {
    send: await life.send(),
    payroll: await life.payrollWithFrozenPayee(),
    swap: await life.privateSwap(),
    cancelled: await life.cancelled(),
    held: await life.heldAndResolved(),
  };
  await life.pay(orders.send, { from: alice, asset: "USDC", amount: 7_000_000n });
  for (let round = 0; round < 3; round++) {
    await world.pass(11 * MINUTE);
    await world.settle(6);
  }

  const send = await life.shown(orders.send.id);
  const payroll = await life.shown(orders.payroll.id);
  const swap = await life.shown(orders.swap.id);
  const cancelled = await life.shown(orders.cancelled.id);
  const held = await life.shown(orders.held.id);
  expect([walletSend, walletSwap, send, swap].map(({ status }) => status)).toEqual(
    Array(4).fill("completed"),
  );
  expect(payroll).toMatchObject({ status: "failed", reason: "PARTIAL_PAYOUT" });
  expect([cancelled.status, held.status]).toEqual(["cancelled", "failed"]);

  const reconciled = await world.service.reconcile();
  expect(reconciled).toMatchObject({
    isExplained: true,
    addresses: 5,
    findings: [],
    wallet: { transactions: 2, unproven: 0, findings: [] },
    purses: [
      { purse: "sponsor", address: sponsor.address, isWhole: true, unknownSignatures: [] },
      { purse: "desk", address: desk, transactions: 2, isWhole: true, unknownSignatures: [] },
    ],
  });
  const sums = {
    SOL: sumsOf(reconciled.assets, "SOL"),
    USDC: sumsOf(reconciled.assets, "USDC"),
    USDT: sumsOf(reconciled.assets, "USDT"),
  };
  for (const asset of ASSETS) {
    const { deposits, payouts, refunds, fees, held: left, ...others } = sums[asset];
    expect(deposits).toBe(life.sumPaidIn(asset));
    expect([deposits, left]).toEqual([payouts + refunds + fees, 0n]);
    expect(Object.values(others).every((amount) => amount === 0n)).toBe(true);
  }
  const refunded = [send, payroll, swap, cancelled];
  const toAlice = sum(refunded.map(refundedIn));
  const withheld = sum([...refunded, held].map(costsIn));
  expect([sums.SOL.refunds, sums.USDC.refunds]).toEqual([0n, toAlice + refundedIn(held) + withheld]);

  const after = await photograph(chain);
  const burnt = await feesBurnt(chain, [sponsor.address], before.slot);
  const rent = await world.ledger.rentMinimum(AccountLayout.span);
  const made = accountsMade([...life.payees, dave, treasury], before, after) * rent;
  const got = paidOutIn(walletSwap) + paidOutIn(swap);
  const given = units(SWAPPED.wallet, 9);
  expect(gainOf(treasury.address, before, after)).toEqual(ASSETS.map((asset) => sums[asset].fees));
  const markers = await markersOf(Object.values(orders));
  // It pays all fees, the markers and the accounts of payees, and gets those that depositors opened at the addresses.
  expect(gainOf(sponsor.address, before, after)).toEqual([
    life.rentPaid(rent) - (burnt.get(sponsor.address) ?? 0n) - made - markers,
    withheld,
    0n,
  ]);
  expect(gainOf(desk, before, after)).toEqual([given + sums.SOL.payouts, -got, 0n]);
  expect(gainOf(bob.address, before, after)).toEqual([0n, 6_000_000n, 0n]);
  expect(gainOf(dave.address, before, after)).toEqual([0n, refundedIn(held), 0n]);
  expect(gainOf(alice.address, before, after)).toEqual([
    -given - life.sumPaidIn("SOL") - life.rentPaid(rent, alice) - (await feesOfAlice()),
    got + toAlice - life.sumPaidIn("USDC", alice) - 1_000_000n,
    0n,
  ]);
  expect(gainOf(carol.address, before, after)[1]).toBe(-life.sumPaidIn("USDC", carol));
}, 120_000);
