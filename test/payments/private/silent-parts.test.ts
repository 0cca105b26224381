/** M26: a signer, a price source and a screen of private mode that never answer: told, and nothing else waits for them. */
// modules: private
import { expect } from "vitest";
import { keypairSigner, type Signer } from "../../../src/ledger/sign-transaction.ts";
import type { AttentionChange } from "../../../src/payments/operator/attention/matter-report-loop.ts";
import { fixedPrices, type PriceSource } from "../../../src/payments/frame/prices/prices.ts";
import type { ScreenAddress } from "../../../src/payments/frame/recipients/recipients.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import { turns } from "../../kit/engine-world.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { solAt150, units } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";

const never = <T>(): Promise<T> => new Promise(() => {});

/** A part that answers or does not, as a test wants, and how often it was asked. */
interface Part {
  hangs: boolean;
  asked: number;
  readonly aborted: AbortSignal[];
}

const part = (): Part => ({ hangs: false, asked: 0, aborted: [] });

function asked<T>(state: Part, signal: AbortSignal | undefined, answer: () => Promise<T>): Promise<T> {
  state.asked += 1;
  if (signal !== undefined) state.aborted.push(signal);
  return state.hangs ? never() : answer();
}

const screenOf =
  (state: Part): ScreenAddress =>
  (_address, _as, signal) =>
    asked(state, signal, async () => "ok" as const);

const signerOf = (state: Part, own: Signer): Signer => ({
  address: own.address,
  sign: (message, signal) => asked(state, signal, () => own.sign(message)),
});

const SPONSOR = new Uint8Array(32).fill(3);

/** Lets seconds pass for a service of which something hangs: nothing is waited for. */
async function live(world: PrivateFixture, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    world.clock.advance(1_000);
    world.chain.advance(2);
    await turns(30);
  }
}

function heard(): { readonly news: AttentionChange[]; readonly options: Partial<PaymentServiceOptions> } {
  const news: AttentionChange[] = [];
  return { news, options: { onAttention: (told) => void news.push(told) } };
}

test("M26: a signer that never answers is told within a minute, and its order goes on when it answers; others went on", async ({
  open,
}) => {
  const state = part();
  const { news, options } = heard();
  const world = await open(options, { sponsor: signerOf(state, keypairSigner(SPONSOR)) });
  world.chain.fund(keypairSigner(SPONSOR).address, { lamports: 10_000_000_000n });
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: units("50", 6) });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  world.chain.advance(35);
  const order = { sender: alice, to: [{ address: bob.address, amount: "5" }] };
  const { body } = await world.order(caller, order);
  state.hangs = true;
  world.chain.fund(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  world.chain.advance(35);
  for (let second = 0; second < 30 && state.asked === 0; second++) await live(world, 1);
  expect(state.asked).toBe(1);
  await live(world, 59);
  expect(await world.service.health()).toMatchObject({
    status: "degraded",
    silentParts: ["signer of the sponsor"],
  });
  const matter = { kind: "silent_part", id: "silent_part:signer of the sponsor", actions: [] };
  expect(await world.service.operator.attention()).toContainEqual(expect.objectContaining(matter));
  const ofSigner = () => news.filter(({ matter: { kind } }) => kind === "silent_part");
  expect(ofSigner()).toMatchObject([{ state: "waiting", matter }]);
  expect(state.asked).toBeGreaterThan(2);
  expect(state.aborted[0]?.aborted).toBe(true);

  const sent = await world.send(caller, { from: alice, to: bob.address, amount: "1" });
  await live(world, 60);
  expect(await world.service.transaction(caller, sent.transactionId)).toMatchObject({ status: "completed" });
  expect(await world.service.transaction(caller, body.transactionId)).not.toMatchObject({
    status: "completed",
  });

  state.hangs = false;
  await live(world, 120);
  await world.settle();
  expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({ status: "completed" });
  expect(ofSigner()).toMatchObject([{ state: "waiting" }, { state: "over" }]);
  expect((await world.service.health()).silentParts).toBeUndefined();
  expect((await world.held(bob.address))[1]).toBe(units("6", 6) + 1n);
});

test("M26: a `screen` that never answers refuses new orders as unavailable, and is told", async ({
  open,
}) => {
  const state = part();
  const { news, options } = heard();
  const world = await open(options, { screen: screenOf(state) });
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: units("50", 6) });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  world.chain.advance(35);
  state.hangs = true;
  const order = { sender: alice, to: [{ address: bob.address, amount: "5" }] };
  const refused = expectRefusal(world.order(caller, order), "ROUTING_UNAVAILABLE", { reason: "upstream" });
  await live(world, 11);
  await refused;
  await live(world, 40);
  expect(news).toMatchObject([{ state: "waiting", matter: { id: "silent_part:screen" } }]);
  state.hangs = false;
  await world.order(caller, order);
  await live(world, 40);
  expect(news).toMatchObject([{ state: "waiting" }, { state: "over" }]);
});

test("M26: a price source that never answers is told, and one process does not end what another is told", async ({
  open,
}) => {
  const state = part();
  const { news, options } = heard();
  let fixed: PriceSource = fixedPrices({});
  const prices: PriceSource = {
    rate: (give, get, signal) => asked(state, signal, () => fixed.rate(give, get)),
  };
  const world = await open(options, { prices });
  fixed = solAt150(world);
  const caller = await world.caller();
  state.hangs = true;
  const request = { inputAsset: "USDC", outputAsset: "USDC", amount: "25", mode: "private" as const };
  const refused = expectRefusal(world.service.createQuote(caller, request), "ROUTING_UNAVAILABLE", {
    reason: "upstream",
  });
  await live(world, 40);
  await refused;
  expect(news).toMatchObject([{ state: "waiting", matter: { id: "silent_part:price source" } }]);
  const other = world.another({});
  await other.start();
  await live(world, 70);
  expect(news).toHaveLength(1);
  expect(await other.operator.attention()).toMatchObject([{ kind: "silent_part" }]);
  await other.stop();
  state.hangs = false;
  await world.service.createQuote(caller, request);
  await live(world, 40);
  expect(news).toMatchObject([{ state: "waiting" }, { state: "over" }]);
});
