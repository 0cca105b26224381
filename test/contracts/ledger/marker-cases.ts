/** The ledger contract on markers: a payment lands once or is replaced once, and everybody can read which. */
import { agreed } from "../../../src/ledger/agreed.ts";
import assert from "node:assert/strict";
import type { Move } from "../../../src/ledger/routing.ts";
import { promise, type LedgerContractCase, type LedgerWorld } from "./contract.ts";
import { AMOUNT, only, PLENTY } from "./payments.ts";
import {
  carryOut,
  coin,
  follow,
  holds,
  kindOf,
  makeFinal,
  mark,
  markersOf,
  parties,
  planOf,
  replace,
  SEED,
  signed,
  succeed,
  unmark,
  type Parties,
} from "./plans.ts";

const PLAN = "plan";
const RIVAL = "rival";

/** A world with a funded payer, and somebody new who is to be paid. */
async function scene(
  world: LedgerWorld,
): Promise<Parties & { readonly payee: Awaited<ReturnType<LedgerWorld["wallet"]>> }> {
  return { ...(await parties(world, { native: PLENTY })), payee: await world.wallet({}) };
}

/** What is said of these moves before they are sent and what their landed error is explained as, at which move. */
async function fault(
  world: LedgerWorld,
  everybody: Parties,
  ...moves: readonly Move[]
): Promise<ReturnType<typeof kindOf>> {
  const { tried, landed } = await carryOut(
    world,
    planOf(everybody, ...moves),
    everybody.sponsor,
    everybody.payer,
  );
  assert.deepEqual(tried, landed);
  return kindOf(landed);
}

/** Making, replacing, following and closing markers, and strangers who can do none of it. */
export const markerCases: readonly LedgerContractCase[] = [
  promise(
    "M4: a mark works whatever was sent to its address before, and no second one does",
    async (world) => {
      const { ledger } = world;
      const everybody = await scene(world);
      const { sponsor, payer, payee } = everybody;
      const stranger = await world.wallet({ native: PLENTY });
      const rent = await ledger.rentMinimum(165);
      for (const [index, sent] of [await ledger.rentMinimum(0), rent, AMOUNT].entries()) {
        const seed = `m${index}`;
        const gift = coin(stranger, ledger.markerAddress(payer.address, seed), sent);
        await succeed(world, planOf({ sponsor: stranger }, gift), stranger);
        assert.deepEqual(await markersOf(world, payer.address, [seed]), ["unmade"]);
        const pay = [mark(everybody, seed), coin(payer, payee.address, AMOUNT)];
        await succeed(world, planOf(everybody, ...pay), sponsor, payer);
        assert.deepEqual(await markersOf(world, payer.address, [seed]), [
          { delegate: null, lamports: rent + sent },
        ]);
        assert.deepEqual(await fault(world, everybody, ...pay), ["marked", 0]);
      }
      assert.deepEqual(await holds(world, payee.address), [3n * AMOUNT, 0n]);
    },
  ),
  promise(
    "what was sent to a marker hinders neither plan nor closing, which returns all of it",
    async (world) => {
      const { ledger } = world;
      const everybody = await scene(world);
      const { sponsor, payer } = everybody;
      const stranger = await world.wallet({ native: PLENTY });
      const rent = await ledger.rentMinimum(165);
      await succeed(world, planOf(everybody, replace(everybody, PLAN)), sponsor, payer);
      const gifts = [SEED, PLAN].map((seed) =>
        coin(stranger, ledger.markerAddress(payer.address, seed), AMOUNT),
      );
      await succeed(world, planOf({ sponsor: stranger }, ...gifts), stranger);
      const delegate = ledger.markerAddress(payer.address, PLAN);
      assert.deepEqual(await markersOf(world, payer.address, [SEED, PLAN]), [
        { delegate, lamports: rent + AMOUNT },
        { delegate: null, lamports: rent + AMOUNT },
      ]);
      await succeed(
        world,
        planOf(everybody, follow(everybody, PLAN), mark(everybody, "leaf")),
        sponsor,
        payer,
      );
      const sweep = planOf(everybody, ...[SEED, PLAN, "leaf"].map((seed) => unmark(everybody, seed)));
      const [before] = await holds(world, sponsor.address);
      const fee = await ledger.feeOf(sweep, "estimate");
      await succeed(world, sweep, sponsor, payer);
      const [after] = await holds(world, sponsor.address);
      assert.equal(after - before, 3n * rent + 2n * AMOUNT - fee);
      assert.deepEqual(await markersOf(world, payer.address, [SEED, PLAN]), ["unmade", "unmade"]);
    },
  ),
  promise(
    "a payment that was replaced lands no more, and one that was paid is not replaced",
    async (world) => {
      const { ledger } = world;
      const everybody = await scene(world);
      const { sponsor, payer, payee } = everybody;
      const rent = await ledger.rentMinimum(165);
      const pay = (seed: string): Move[] => [mark(everybody, seed), coin(payer, payee.address, AMOUNT)];
      // Signed while nothing stood against it, kept back, and sent after the replacement.
      const late = await signed(world, planOf(everybody, ...pay(SEED)), sponsor, payer);
      await succeed(world, planOf(everybody, replace(everybody, PLAN)), sponsor, payer);
      await ledger.broadcast(late.bytes);
      await makeFinal(world);
      const status = only(await ledger.statuses([late.signature]));
      assert.deepEqual(
        kindOf(
          await ledger.explainError(planOf(everybody, ...pay(SEED)), agreed<string>(status?.error ?? "")),
        ),
        ["marked", 0],
      );
      assert.deepEqual(await fault(world, everybody, ...pay(SEED)), ["marked", 0]);
      assert.deepEqual(await holds(world, payee.address), [0n, 0n]);
      await succeed(world, planOf(everybody, ...pay("other")), sponsor, payer);
      assert.deepEqual(await fault(world, everybody, replace(everybody, RIVAL, "other")), ["marked", 0]);
      assert.deepEqual(await markersOf(world, payer.address, [SEED, PLAN, "other", RIVAL]), [
        { delegate: ledger.markerAddress(payer.address, PLAN), lamports: rent },
        { delegate: null, lamports: rent },
        { delegate: null, lamports: rent },
        "unmade",
      ]);
    },
  ),
  promise("of two rival plans for one payment one is made, and nothing of the other lands", async (world) => {
    const { ledger } = world;
    const everybody = await scene(world);
    const { sponsor, payer, payee } = everybody;
    const plans = await Promise.all(
      [PLAN, RIVAL].map((plan) => signed(world, planOf(everybody, replace(everybody, plan)), sponsor, payer)),
    );
    for (const { bytes } of plans) await ledger.broadcast(bytes);
    await makeFinal(world);
    const leaves: (readonly [string, ReturnType<typeof kindOf>])[] = [];
    for (const plan of [PLAN, RIVAL]) {
      const leaf = [follow(everybody, plan), mark(everybody, "leaf"), coin(payer, payee.address, AMOUNT)];
      leaves.push([plan, await fault(world, everybody, ...leaf)]);
    }
    assert.deepEqual(leaves, [
      [PLAN, null],
      [RIVAL, ["unplanned", 0]],
    ]);
    assert.deepEqual(await holds(world, payee.address), [AMOUNT, 0n]);
  }),
  promise(
    "follow: fails before its plan is made, whatever was sent there, and for no plan but its own",
    async (world) => {
      const { ledger } = world;
      const everybody = await scene(world);
      const { sponsor, payer, payee } = everybody;
      const leaf = [follow(everybody, PLAN), mark(everybody, "leaf"), coin(payer, payee.address, AMOUNT)];
      assert.deepEqual(await fault(world, everybody, ...leaf), ["unplanned", 0]);
      const stranger = await world.wallet({ native: PLENTY });
      const gift = coin(stranger, ledger.markerAddress(payer.address, PLAN), AMOUNT);
      await succeed(world, planOf({ sponsor: stranger }, gift), stranger);
      assert.deepEqual(await fault(world, everybody, ...leaf), ["unplanned", 0]);
      await succeed(world, planOf(everybody, replace(everybody, RIVAL)), sponsor, payer);
      assert.deepEqual(await fault(world, everybody, ...leaf), ["unplanned", 0]);
      assert.deepEqual(await holds(world, payee.address), [0n, 0n]);
      await succeed(world, planOf(everybody, replace(everybody, PLAN, "another")), sponsor, payer);
      assert.deepEqual(await fault(world, everybody, ...leaf), null);
      assert.deepEqual(await fault(world, everybody, ...leaf), ["marked", 1]);
      assert.deepEqual(await holds(world, payee.address), [AMOUNT, 0n]);
    },
  ),
  promise("a replacement pays in the same transaction, or is not made at all", async (world) => {
    const everybody = await scene(world);
    const { sponsor, payer, payee } = everybody;
    const tooMuch = [replace(everybody, PLAN), coin(payer, payee.address, 2n * PLENTY)];
    assert.deepEqual(await fault(world, everybody, ...tooMuch), ["source", 1]);
    assert.deepEqual(await markersOf(world, payer.address, [SEED, PLAN]), ["unmade", "unmade"]);
    const refund = planOf(everybody, replace(everybody, PLAN), coin(payer, payee.address, AMOUNT));
    await succeed(world, refund, sponsor, payer);
    assert.deepEqual(await holds(world, payee.address), [AMOUNT, 0n]);
  }),
  promise("a marker that was closed can be made again", async (world) => {
    const everybody = await scene(world);
    const { payer, payee } = everybody;
    const pay = [mark(everybody), coin(payer, payee.address, AMOUNT)];
    assert.deepEqual(await fault(world, everybody, unmark(everybody)), ["source", 0]);
    assert.equal(await fault(world, everybody, ...pay), null);
    assert.deepEqual(await fault(world, everybody, ...pay), ["marked", 0]);
    assert.equal(await fault(world, everybody, unmark(everybody)), null);
    assert.equal(await fault(world, everybody, ...pay), null);
    assert.deepEqual(await holds(world, payee.address), [2n * AMOUNT, 0n]);
  }),
  promise("P26: markers: each in its place, of more than a call takes", async (world) => {
    const { ledger } = world;
    const everybody = await scene(world);
    const { sponsor, payer } = everybody;
    await succeed(world, planOf(everybody, mark(everybody)), sponsor, payer);
    const seeds = Array.from({ length: 130 }, (_, index) => (index % 7 === 0 ? SEED : `m${index}`));
    const made = { delegate: null, lamports: await ledger.rentMinimum(165) };
    assert.deepEqual(
      await markersOf(world, payer.address, seeds),
      seeds.map((seed) => (seed === SEED ? made : "unmade")),
    );
    assert.deepEqual(await markersOf(world, payer.address, []), []);
  }),
  promise(
    "E9: markers: nothing that may still vanish is told, and what did vanish never was",
    async (world) => {
      const { ledger } = world;
      const everybody = await scene(world);
      const { sponsor, payer } = everybody;
      const paying = planOf(everybody, mark(everybody));
      await world.pass(1);
      const forked = await signed(world, paying, sponsor, payer);
      await ledger.broadcast(forked.bytes);
      assert.deepEqual(await markersOf(world, payer.address, [SEED]), ["unmade"]);
      await world.fork(1);
      await makeFinal(world);
      assert.deepEqual(await markersOf(world, payer.address, [SEED]), ["unmade"]);
      const { bytes } = await signed(world, paying, sponsor, payer);
      await ledger.broadcast(bytes);
      await world.pass(world.blocksToFinality - 1);
      assert.deepEqual(await markersOf(world, payer.address, [SEED]), ["unmade"]);
      await world.pass(1);
      assert.notDeepEqual(await markersOf(world, payer.address, [SEED]), ["unmade"]);
    },
  ),
  promise("markers, heights: what was read is not older than the height that is told", async (world) => {
    const { ledger } = world;
    const { address } = await world.wallet({});
    const before = await ledger.heights("finalized");
    assert(before.lowest === before.highest && before.highest <= world.height());
    const reading = await ledger.markers(address, [SEED]);
    assert(reading.blockHeight >= before.lowest && reading.blockTime > 0);
    assert(reading.slot >= (await ledger.position()).slot && world.endpoints.includes(reading.endpoint));
    await world.pass(7);
    assert.deepEqual(await ledger.heights("finalized"), {
      lowest: before.lowest + 7,
      agreed: before.agreed + 7,
      highest: before.highest + 7,
    });
  }),
  promise(
    "E10: markers, heights: with one endpoint of two that says nothing nothing is known",
    async (world) => {
      const { ledger } = world;
      const { address } = await world.wallet({});
      for (const index of [0, 1] as const) {
        for (const problem of ["silent", "refusing", "losing_answers"] as const) {
          const mend = world.breakEndpoint(index, problem);
          const unknown = { name: "LedgerUnavailable" };
          await assert.rejects(world.wait(ledger.markers(address, [SEED])), unknown);
          await assert.rejects(world.wait(ledger.heights("finalized")), unknown);
          mend();
          await world.elapse(60_000);
        }
      }
      assert.deepEqual(await markersOf(world, address, [SEED]), ["unmade"]);
    },
  ),
  promise(
    "markers, heights: an endpoint that lags is told by the lowest height, and disputes what it has not heard of",
    async (world) => {
      const { ledger } = world;
      const everybody = await scene(world);
      const { sponsor, payer } = everybody;
      await succeed(world, planOf(everybody, mark(everybody)), sponsor, payer);
      const { highest } = await ledger.heights("finalized");
      world.breakEndpoint(0, "lagging");
      const heights = await world.wait(ledger.heights("finalized"));
      assert(heights.lowest < heights.highest && heights.highest === highest);
      const { blockHeight, markers } = await world.wait(ledger.markers(payer.address, [SEED, "never"]));
      assert.equal(blockHeight, heights.lowest);
      assert.deepEqual(markers, ["disputed", "unmade"]);
    },
  ),
];
