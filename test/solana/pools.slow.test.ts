/** N3: behind one URL stand nodes that are some slots apart, and nobody is refused because of it. */
import { SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import { LedgerUnavailable, type Ledger, type LandingWindow } from "../../src/ledger/ledger.ts";
import { isPaymentError } from "../../src/errors/errors.ts";
import type { ChainFixture } from "../kit/chain-fixture.ts";
import { chainTest } from "../kit/chain-test.ts";
import { opener } from "../kit/opener.ts";
import { everySecond, oddEndpoint, pool, type OddEndpoint, type SlotsBehind } from "../kit/odd-endpoints.ts";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import { keyOf, newestBlockhash, signed } from "./signed-transaction.ts";
import { turns } from "./scripted-node.ts";

const test = chainTest.extend("openService", ({ onTestFinished }) => opener(serviceFixture, onTestFinished));

const LIFE_SLOTS = 152;
const SLOT_MS = 400;
const STEP_MS = 50;

/** Lets time pass, and with it the slots of the chain, until the work is done; says how long that took. */
async function timeOf({ chain, clock }: ChainFixture, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const end = (): void => void (isDone = true);
  work.then(end, end);
  let ms = 0;
  for (; ; ms += STEP_MS) {
    // A call of a service goes through storage, queue and chain.
    for (let turn = 0; turn < 40 && !isDone; turn += 1) await turns(1);
    if (isDone) return ms;
    clock.advance(STEP_MS);
    if ((ms + STEP_MS) % SLOT_MS === 0) chain.advance(1);
  }
}

async function windowOf(
  world: ChainFixture,
  ledger: Ledger,
  blockhash: string,
): Promise<[LandingWindow | null, number]> {
  const work = ledger.landingWindow(blockhash);
  const ms = await timeOf(world, work);
  return [await work, ms];
}

/** Whether a call meets a node that is behind, by chance that repeats itself. */
const byChance =
  (slots: number): SlotsBehind =>
  (call) =>
    Math.imul(call + 1, 2_654_435_761) >>> 31 === 0 ? slots : 0;

const always =
  (slots: number): SlotsBehind =>
  () =>
    slots;

test("N3: a fresh blockhash is alive, and its last height is not too low, whichever nodes of the pool are met", async ({
  world,
}) => {
  const { chain, ledgerOf } = world;
  for (const behind of [everySecond(3), everySecond(5), byChance(5), always(5)]) {
    const ledger = ledgerOf([oddEndpoint(chain, "pool", pool(behind)).option]);
    // Loads the libraries.
    await ledger.position();
    for (let count = 0; count < 20; count += 1) {
      chain.advance(1);
      const blockhash = await newestBlockhash(chain);
      const lastHeight = chain.blockHeight() - 1 + 150;
      const [window, ms] = await windowOf(world, ledger, blockhash);
      expect(window?.lastValidBlockHeight).toBeGreaterThanOrEqual(lastHeight);
      expect(ms).toBeLessThan(3_000);
    }
    await ledger.close();
  }
});

test("N3: a blockhash that nobody handed out here is dead after two seconds at a pool, one of ours at once", async ({
  world,
}) => {
  const { chain, ledgerOf } = world;
  const ledger = ledgerOf([oddEndpoint(chain, "pool", pool(everySecond(5))).option]);
  const theirs = await newestBlockhash(chain);
  const { feePayer, moves } = {
    feePayer: world.wallet("alice", { lamports: 1_000_000_000n }).address,
    moves: [],
  };
  const { blockhash: ours } = await ledger.buildTransaction({ feePayer, moves });
  chain.advance(LIFE_SLOTS + 5);
  const [none, ms] = await windowOf(world, ledger, ours);
  expect(none).toBeNull();
  expect(ms).toBeLessThan(1_000);
  const [noneEither, longer] = await windowOf(world, ledger, theirs);
  expect(noneEither).toBeNull();
  expect(longer).toBeGreaterThanOrEqual(2_000);
  expect(longer).toBeLessThan(3_000);
  await ledger.close();
});

test(
  "N3: behind a pool that lags 5 slots 200 of 200 fresh transactions are taken, 200 of 200 expired ones are blockhash_expired within 3 s",
  async ({ openService }) => {
    const world = await openService({}, ({ chain, ledgerOf }) => {
      const ledger = ledgerOf([oddEndpoint(chain, "pool", pool(everySecond(5))).option]);
      return { ledger: { ...ledger, time: async () => null } };
    });
    const { chain, service } = world;
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: 10_000_000_000n });
    const bob = world.wallet("bob", { lamports: 1_000_000_000n });
    /** The outcome of a payment of so many lamports, whose wallet asked a node of its own for the blockhash. */
    const outcomeOf = async (lamports: number, slotsLate: number): Promise<string> => {
      const amount = String(lamports / 1_000_000_000);
      const send = { from: alice, to: bob.address, amount, asset: "SOL" };
      const quoted = world.prepareSend(caller, send);
      await timeOf(world, quoted);
      const pay = SystemProgram.transfer({ fromPubkey: keyOf(alice), toPubkey: keyOf(bob), lamports });
      const signedTransaction = await signed(world, { signers: [alice], instructions: [pay] });
      if (slotsLate > 0) chain.advance(slotsLate);
      const body = { ...(await quoted).body, signedTransaction };
      const posted = service.createTransaction(caller, { ...body, recipients: [...body.recipients] }).then(
        () => "taken",
        (error: unknown) =>
          isPaymentError(error, "INVALID_SIGNATURE") ? error.details.reason : String(error),
      );
      const ms = await timeOf(world, posted);
      return `${await posted}, ${ms < 3_000 ? "in time" : "late"}`;
    };
    const outcomes = new Map<string, number>();
    const most = byDepth({ quick: 40, ci: 200, long: 200 });
    for (let count = 1; count <= most; count += 1) {
      for (const slotsLate of [0, LIFE_SLOTS + 5]) {
        const outcome = `${slotsLate === 0 ? "fresh" : "expired"}: ${await outcomeOf(1_000_000 + count, slotsLate)}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    }
    expect(outcomes).toEqual(
      new Map([
        ["fresh: taken, in time", most],
        ["expired: blockhash_expired, in time", most],
      ]),
    );
  },
  EXPLORING_MS,
);

test("N3: of two pools both have to say that a blockhash is dead, and what stays unknown is no verdict", async ({
  world,
}) => {
  const { chain, ledgerOf } = world;
  const pools = ["one", "two"].map((name) => oddEndpoint(chain, name, pool(everySecond(5))));
  const ledger = ledgerOf(pools.map(({ option }) => option));
  for (let count = 0; count < 5; count += 1) {
    const blockhash = await newestBlockhash(chain);
    expect((await windowOf(world, ledger, blockhash))[0]).not.toBeNull();
    chain.advance(LIFE_SLOTS + 5);
    expect((await windowOf(world, ledger, blockhash))[0]).toBeNull();
  }
  // The second one stands still behind the slot that both have told.
  const stuck = stuckAfterOneAnswer(chain);
  const other = ledgerOf([oddEndpoint(chain, "well").option, stuck.option]);
  const work = other.landingWindow(MADE_UP);
  await timeOf(world, work);
  await expect(work).rejects.toBeInstanceOf(LedgerUnavailable);
  await Promise.all([ledger.close(), other.close()]);
});

/** Tells the newest slot once, and from then on what it knew fifty slots before. */
function stuckAfterOneAnswer(chain: ChainFixture["chain"]): OddEndpoint {
  return oddEndpoint(
    chain,
    "stuck",
    pool((call) => (call === 1 ? 0 : 50)),
  );
}

const MADE_UP = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";

test("N17: a made-up blockhash costs one look, however often it is sent", async ({ world }) => {
  const { chain, ledgerOf } = world;
  const node = oddEndpoint(chain, "node");
  const ledger = ledgerOf([node.option]);
  const looks = (): number => node.calls.filter((method) => method === "isBlockhashValid").length;
  expect((await windowOf(world, ledger, MADE_UP))[0]).toBeNull();
  const first = looks();
  expect(first).toBeLessThan(6);
  for (let count = 0; count < 100; count += 1) expect(await ledger.landingWindow(MADE_UP)).toBeNull();
  expect(looks()).toBe(first);
  await ledger.close();
});

test("N17: an endpoint that tells a slot 10^6 ahead shuts out no honest one: expired stays expired", async ({
  world,
}) => {
  const { chain, ledgerOf } = world;
  const honest = ["one", "two"].map((name) => oddEndpoint(chain, name));
  const ahead = oddEndpoint(chain, "ahead", ({ method }) =>
    method === "isBlockhashValid" || method === "getEpochInfo"
      ? { kind: "lie", answer: aMillionAhead }
      : undefined,
  );
  const asked: unknown[] = [];
  chain.faults.add(({ params }) => void asked.push(...params));
  const ledger = ledgerOf([ahead, ...honest].map(({ option }) => option));
  expect((await windowOf(world, ledger, MADE_UP))[0]).toBeNull();
  expect(JSON.stringify(asked)).not.toContain("minContextSlot");
  await ledger.close();
});

const AHEAD = 1_000_000;

function aMillionAhead(honest: unknown): unknown {
  const told = honest as { context?: { slot: number }; absoluteSlot: number; blockHeight: number };
  if (told.context !== undefined) return { ...told, context: { slot: told.context.slot + AHEAD } };
  return { ...told, absoluteSlot: told.absoluteSlot + AHEAD, blockHeight: told.blockHeight + AHEAD };
}
