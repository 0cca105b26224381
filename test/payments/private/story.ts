/** What becomes of one order, told step by step: who paid what, how much later, and what is shown then. */
// modules: private
import { expect } from "vitest";
import type { ScreenAddress } from "../../../src/payments/frame/recipients/recipients.ts";
import type { TransactionBody } from "../../../src/payments/frame/transactions/transaction-schema.ts";
import type { Funds } from "../../../src/local/index.ts";
import { BY } from "../../kit/by.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { solAt150, units } from "../../kit/money.ts";
import {
  holdsOf,
  MINUTE,
  orderedAs,
  SOL,
  type Ordered,
  type scene,
  type Scene,
  type Stablecoin,
} from "./scene.ts";

/** The order, alice's to bob of 5 USDC unless it says otherwise. */
export interface Given {
  readonly asset?: "USDC" | "SOL";
  /** Of each recipient. */
  readonly amount?: string;
  readonly sender?: string;
  readonly to?: readonly string[];
  /** Whether the host is asked about everybody. Money that the issuer made has no payer then. */
  readonly screens?: boolean;
  readonly options?: Parameters<typeof scene>[0];
  readonly routing?: Parameters<typeof scene>[1];
  readonly ledger?: Parameters<typeof scene>[2];
}

/** What the host says. */
export class Host {
  readonly refused = new Set<string>();
  readonly asked: string[] = [];
  isDown = false;
  hasPrices = true;
  world: Scene | null = null;

  readonly screen: ScreenAddress = async (address, { role, transactionId }) => {
    if (this.isDown) throw new Error("the list is out of reach");
    this.asked.push(`${role} ${address} ${transactionId === null ? "before" : "after"}`);
    return this.refused.has(address) ? "refused" : "ok";
  };

  readonly rate: ReturnType<typeof solAt150>["rate"] = async (give, get) => {
    if (!this.hasPrices || this.world === null) throw new Error("no price");
    return solAt150(this.world).rate(give, get);
  };
}

/** An order, its world, and what has been told of it so far. */
export interface Story {
  readonly world: Scene;
  readonly host: Host;
  readonly order: Ordered;
  /** Anybody, with money enough; "address" is the order's own. */
  who(name: string): Wallet;
  shown(): Promise<TransactionBody>;
}

export type Step = (story: Story) => unknown;
export type Told = readonly [name: string, given: Given, ...steps: readonly Step[]];

const WEALTH: Readonly<Record<string, Funds>> = { newcomer: { lamports: SOL }, poor: { usdc: 1n } };
const PAYEE: Funds = { lamports: SOL };
const RICH: Funds = { lamports: 5n * SOL, usdc: 50_000_000n, usdt: 50_000_000n };

/** Makes the world and takes the order. */
export async function begin(open: typeof scene, given: Given = {}): Promise<Story> {
  const { asset = "USDC", amount = "5", sender = "alice", to = ["bob"], screens = false } = given;
  const host = new Host();
  const screening = screens ? { screen: host.screen } : {};
  const routing = { ...screening, prices: { rate: host.rate }, ...given.routing };
  const world = await open(given.options, routing, given.ledger);
  host.world = world;
  const known = new Map<string, Wallet>(Object.entries(world).filter(isWallet));
  const who = (name: string): Wallet => {
    if (name === "address") return { ...world.alice, address: order.address as Wallet["address"] };
    const wallet = known.get(name) ?? world.wallet(name, WEALTH[name] ?? (to.includes(name) ? PAYEE : RICH));
    known.set(name, wallet);
    return wallet;
  };
  const recipients = to.map((name) => ({ address: who(name).address, amount }));
  const from = who(sender);
  world.chain.advance(35);
  const posted = await world.order(world.customer, { sender: from, to: recipients, asset });
  const order = orderedAs(posted.body);
  return { world, host, order, who, shown: () => world.shown(order) };
}

const isWallet = (each: readonly [string, unknown]): each is [string, Wallet] =>
  ["alice", "bob", "sponsor", "treasury"].includes(each[0]);

/**
 * Takes the steps, and judges: nobody got more or less than is shown as paid or refunded, nothing is left that is not shown,
 * and every invariant holds.
 */
export async function expectStory(open: typeof scene, given: Given, steps: readonly Step[]): Promise<void> {
  const story = await begin(open, given);
  const { world, who } = story;
  const names = [...new Set([given.sender ?? "alice", ...(given.to ?? ["bob"])])];
  const held = () => Promise.all(names.map((name) => world.held(who(name).address)));
  const before = await held();
  for (const step of steps) await step(story);
  const shown = await story.shown();
  const after = await held();
  const assets = ["SOL", "USDC", "USDT"];
  const got = names.map((_, at) =>
    assets.map((_asset, n) => (after[at]?.[n] ?? 0n) - (before[at]?.[n] ?? 0n)),
  );
  expect(got).toEqual(names.map((name) => assets.map((asset) => dueTo(who(name).address, asset, shown))));
  const isOver = shown.refunds.every(({ status }) => status === "paid") && shown.unreturned?.length === 0;
  if (isOver) await isEmpty(story);
  await world.judge();
}

/** What somebody has got of an order. */
function dueTo(address: string, asset: string, shown: TransactionBody): bigint {
  const { recipients, refunds, outputAsset, sender } = shown;
  const paid = recipients.filter((each) => each.address === address && each.status === "paid");
  const refunded = refunds.filter((each) => each.status === "paid" && each.asset === asset);
  const amounts = [...(asset === outputAsset ? paid : []), ...(address === sender ? refunded : [])];
  return amounts.reduce((sum, { amount }) => sum + units(amount, asset === "SOL" ? 9 : 6), 0n);
}

/** Nothing lies at the order's address. */
export const isEmpty: Step = async ({ world, order }) =>
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);

type Amount = bigint | ((due: bigint) => bigint);
const amountOf = (amount: Amount, { due }: Ordered): bigint =>
  typeof amount === "bigint" ? amount : amount(due);
const inAsset = async ({ shown, order }: Story, more: bigint): Promise<Funds> => {
  const { depositAsset } = (await shown()) as { readonly depositAsset?: string };
  return depositAsset === "SOL" ? { lamports: order.due + more } : { usdc: order.due + more };
};

/** The issuer gives it, finalized and seen. */
export const gives =
  (funds: Funds): Step =>
  ({ world, order }) =>
    world.deposit(order.address, funds);
/** The same of what the order asks for, and so much more or less. */
export const givesDue =
  (more = 0n): Step =>
  async (story) =>
    story.world.deposit(story.order.address, await inAsset(story, more));
/** It has landed a moment ago, and nobody has looked. */
export const landsDue =
  (more = 0n): Step =>
  async (story) =>
    story.world.chain.fund(story.order.address, await inAsset(story, more));
/** Somebody pays in out of his own account. */
export const paysIn =
  (name: string, amount: Amount = (due) => due): Step =>
  async (story) => {
    const { world, order, who } = story;
    const { lamports } = await inAsset(story, 0n);
    if (lamports !== undefined) return world.pay(who(name), order.address, amountOf(amount, order));
    await world.openAccount(who("address"), "USDC");
    return world.payTokens(who(name), order.address, "USDC", amountOf(amount, order));
  };
/** The service has seen what there is by now. */
export const looks: Step = ({ world }) => world.service.settled();
export const slots =
  (count: number): Step =>
  ({ world }) => {
    world.chain.advance(count);
    return world.service.settled();
  };
export const settles =
  (rounds?: number): Step =>
  ({ world }) =>
    world.settle(rounds);
export const passes =
  (minutes: number, rounds?: number): Step =>
  ({ world }) =>
    world.passAndSettle(minutes * MINUTE, rounds);
export const repeats =
  (times: number, ...steps: readonly Step[]): Step =>
  async (story) => {
    for (let time = 0; time < times; time += 1) for (const step of steps) await step(story);
  };

export const cancels: Step = async ({ world, order }) =>
  expect(await world.service.cancelTransaction(world.customer, order.id)).toMatchObject({
    status: "cancelled",
  });
export const cannotCancel =
  (code: string, details: object): Step =>
  ({ world, order }) =>
    expect(world.service.cancelTransaction(world.customer, order.id)).rejects.toMatchObject({
      code,
      details,
    });

/** What its owner sees. */
export const shows =
  (body: object): Step =>
  async ({ shown }) =>
    expect(await shown()).toMatchObject(body);
/** What came, by asset, amount and whether it counts. */
export const received =
  (...came: readonly (readonly [string, string, boolean])[]): Step =>
  async ({ shown }) => {
    const { received: all = [] } = await shown();
    expect(all.map(({ asset, amount, counted }) => [asset, amount, counted])).toEqual(came);
  };
export const held =
  (...reasons: readonly string[]): Step =>
  async ({ world, order }) =>
    expect(await holdsOf(world, order)).toEqual(reasons);
/** What waits for a person about the order. */
export const matters =
  (...kinds: readonly string[]): Step =>
  async ({ world, order }) => {
    const all = (await world.service.operator.attention()).filter((each) => each.transactionId === order.id);
    expect(all.map(({ kind }) => kind)).toEqual(kinds);
  };
export const resolves =
  (action: "retry" | "hold" | "release" | "decline" | "conclude" | "collect"): Step =>
  ({ world, order }) =>
    world.service.operator.resolve(order.id, { action }, BY);
export const freezes =
  (name: string, asset: Stablecoin = "USDC"): Step =>
  ({ world, who }) =>
    world.freeze(who(name), asset);
export const thaws =
  (name: string, asset: Stablecoin = "USDC"): Step =>
  ({ world, who }) =>
    world.thaw(who(name), asset);
export const refuses =
  (name: string): Step =>
  ({ host, who }) =>
    host.refused.add(who(name).address);
/** The host was asked about him. */
export const asked =
  (role: string, name: string, when: "before" | "after" = "after"): Step =>
  ({ host, who }) =>
    expect(host.asked).toContain(`${role} ${who(name).address} ${when}`);
export const hasPrices =
  (are: boolean): Step =>
  ({ host }) => {
    host.hasPrices = are;
  };
/** Somebody has so much by now: lamports, USDC, USDT. */
export const has =
  (name: string, ...amounts: readonly bigint[]): Step =>
  async ({ world, who }) =>
    expect((await world.held(who(name).address)).slice(0, amounts.length)).toEqual(amounts);
/** The innermost state of its chart. */
export const stands =
  (state: string): Step =>
  async ({ world, order }) =>
    expect(await world.stateOf(order)).toBe(state);
