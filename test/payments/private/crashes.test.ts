/** E5: the process of a private order is killed before and after each of its changes; everybody is paid once all the same. */
import { expect, test } from "vitest";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { brokenMoney } from "../../kit/check-money.ts";
import { mortalProcess } from "../../kit/mortal.ts";
import type { Death, MortalProcess } from "../../kit/mortal.ts";
import { passTime } from "../../kit/pass-time.ts";
import { fixedPrices } from "../../../src/payments/private/prices.ts";
import { SOL_MINT } from "../../../src/address.ts";
import { orderedAs, scene } from "./scene.ts";
import type { Ordered, Scene } from "./scene.ts";

const LEASE_MS = 15_000;
const ROUNDS = 60;
/** Each of these is died at; of the others, which change nothing, one in so many. */
const CHANGING: ReadonlySet<string> = new Set(["commit", "broadcast", "sign"]);
const ONE_IN = 15;
// `npm run test:long` dies at each of them, `npm test` at every sixth.
const STRIDE = process.env["MODE"] === "long" ? 1 : 6;

/** What outlives a process: the order once it was acknowledged, and the customer's own money, sent once. */
interface Outside {
  order: Ordered | null;
  hasDeposited: boolean;
}

/** One life: the calls of the process that dies, and what was broken in the end. */
async function live(death?: Death): Promise<{ calls: readonly string[]; broken: readonly string[] }> {
  const world = await scene();
  try {
    await world.service.stop();
    world.chain.advance(35);
    const outside: Outside = { order: null, hasDeposited: false };
    const first = mortalProcess(death);
    await act(world, first, outside);
    if (first.isDead()) {
      world.clock.advance(LEASE_MS);
      await act(world, mortalProcess(), outside);
    }
    return { calls: first.calls, broken: await brokenIn(world, outside) };
  } finally {
    await world.close();
  }
}

/** What one process lives through: the customer's request, then slots and time until the address has come to rest. */
async function act(world: Scene, process: MortalProcess, outside: Outside): Promise<void> {
  const { storage, ledger, clock, chain, mints } = world;
  const sponsor = process.within(keypairSigner(world.sponsor.secretKey));
  const one = { [SOL_MINT]: 1_000_000_000n, [mints.USDC]: 150_000_000n, [mints.USDT]: 150_000_000n };
  const service = world.another({
    storage: process.within(storage),
    ledger: process.within(ledger),
    clock: process.timedBy(clock),
    privateRouting: { sponsor, treasury: world.treasury.address, prices: fixedPrices(one) },
    leaseMs: LEASE_MS,
  });
  const settled = (): Promise<void> => process.awaits(service.settled());
  const nextDue = (): Promise<number | null> =>
    process.awaits(storage.nextDue(service.workflows.map(({ key }) => key)));

  const place = async (): Promise<Ordered> => {
    const recipients = [{ address: world.bob.address, amount: "5" }];
    const { body: quote } = await service.createQuote(
      world.customer,
      { inputAsset: "USDC", outputAsset: "USDC", amount: "5", mode: "private", recipients },
      { idempotencyKey: "quote" },
    );
    const { body } = await service.createTransaction(
      world.customer,
      { type: "send", mode: "private", quoteId: quote.quoteId, sender: world.alice.address, recipients },
      { idempotencyKey: "order" },
    );
    return orderedAs(body as Parameters<typeof orderedAs>[0]);
  };

  const work = async (): Promise<void> => {
    await service.start();
    const order = await place();
    outside.order = order;
    if (!outside.hasDeposited) chain.fund(order.address, { usdc: order.due + 3_000_000n });
    outside.hasDeposited = true;
    for (let round = 0; round < ROUNDS; round++) {
      await passTime(
        { clock, engine: { settled }, storage: { nextDue }, workflows: [] },
        clock.now() + 20_000,
      );
      chain.advance(35);
      await settled();
      if ((await process.awaits(world.stateOf(order))) === "resting") return;
    }
    throw new Error(`${order.address} never comes to rest`);
  };
  await Promise.race([process.awaits(work()), process.died]);
  if (!process.isDead()) await service.stop();
}

async function brokenIn(world: Scene, { order }: Outside): Promise<readonly string[]> {
  if (order === null) return ["no order was taken"];
  const { storage, ledger, mints } = world;
  const broken = [
    ...(await brokenMoney({ storage, ledger, mints: [mints.USDC, mints.USDT] }, [order.address])),
  ];
  const { transaction, payments } = (await storage.transaction(order.id)) ?? {};
  if (transaction?.status !== "completed") broken.push(`it is ${String(transaction?.status)}`);
  const [, paid] = await world.held(world.bob.address);
  if (paid !== 5_000_000n) broken.push(`bob has ${paid}`);
  const held = await world.held(order.address);
  if (held.some((each) => each !== 0n)) broken.push(`the address holds ${held.join()}`);
  const refunds = payments?.filter(({ kind, status }) => kind === "refund" && status === "finalized") ?? [];
  if (refunds.length !== 1) broken.push(`${refunds.length} refunds were made`);
  const notices = (await storage.notices(order.id)).map(({ event }) => event).toSorted();
  const told = ["transaction.completed", "transaction.confirmed", "transaction.pending"];
  if (notices.join() !== told.join()) broken.push(`told: ${notices.join()}`);
  return broken;
}

test(
  "E5, E12: payout, refund and sweep each land once, wherever the process dies",
  { timeout: 900_000 },
  async () => {
    const { calls, broken } = await live();
    const found = broken.map((each) => `never killed: ${each}`);
    for (const [index, method] of calls.entries()) {
      if (index % (CHANGING.has(method) ? STRIDE : STRIDE * ONE_IN) !== 0) continue;
      for (const moment of ["before", "after"] as const) {
        const place = `killed ${moment} call ${index + 1} (${method})`;
        const life = await live({ call: index + 1, moment }).catch((cause: unknown) => {
          throw new Error(place, { cause });
        });
        found.push(...life.broken.map((each) => `${place}: ${each}`));
      }
    }
    const missing = [...CHANGING].filter((method) => !calls.includes(method));
    expect([...found, ...missing.map((method) => `nobody was killed at ${method}`)]).toEqual([]);
  },
);
