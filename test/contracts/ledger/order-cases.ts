/** The ledger contract on orders: a marker is bought once, one look shows all of an order, and its history names who paid. */
import assert from "node:assert/strict";
import type { Address } from "../../../src/core/address.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import { rentOf, type OrderReading } from "../../../src/ledger/order-reading.ts";
import type { Move, TransactionPlan } from "../../../src/ledger/routing.ts";
import { signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { promise, type LedgerContractCase, type LedgerWorld, type WorldWallet } from "./contract.ts";
import { AMOUNT, only, PLENTY } from "./payments.ts";
import { coin, makeFinal, parties, planOf, signed, units, type Parties } from "./plans.ts";

const ANY_TOKENS = 1_000n;

/** The marker of a seed, at the sponsor's cost. */
export async function buy(
  { ledger, wait }: LedgerWorld,
  { sponsor, payer }: Parties,
  { seed, length = 0 }: { readonly seed: string; readonly length?: number },
): Promise<Move> {
  const lamports = await wait(ledger.rentMinimum(length));
  return { does: "buy", base: payer.address, seed, length, payer: sponsor.address, lamports };
}

/** The fault before it was sent, and after it landed; null when it succeeded. */
export async function faultOf(
  world: LedgerWorld,
  plan: TransactionPlan,
  ...signers: readonly WorldWallet[]
): Promise<OrderFault | null> {
  const { ledger, wait } = world;
  const unsigned = await wait(ledger.buildTransaction(plan));
  const tried = await wait(ledger.tryOrder(plan, unsigned));
  const { bytes, signature } = await signTransaction(
    unsigned,
    signers.map(({ signer }) => signer),
  );
  await wait(ledger.broadcast(bytes));
  await makeFinal(world);
  const status = only(await wait(ledger.statuses([signature])));
  assert.equal(status?.commitment, "finalized");
  const landed = status.error === null ? null : await ledger.explainOrder(plan, agreed<string>(status.error));
  assert.deepEqual(landed, tried);
  return landed;
}

/** A look at the payer's order, with the sponsor beside it. */
async function look(
  { ledger, token, wait }: LedgerWorld,
  { payer, sponsor }: Parties,
  seeds: readonly string[],
): Promise<OrderReading> {
  const query = { address: payer.address, mints: [token.mint], owners: [sponsor.address], seeds };
  return await wait(ledger.readOrder(query, "finalized"));
}

/** Orders. */
export const orderCases: readonly LedgerContractCase[] = [
  promise(
    "markerOf: an address of its own for each order and seed, told while nobody answers; a seed of no marker is a RangeError",
    async (world) => {
      const { sponsor, payer } = await parties(world, { native: PLENTY });
      world.breakEndpoint(0, "silent");
      const { ledger } = world;
      const orders = [sponsor.address, payer.address];
      const made = orders.flatMap((order) => ["0", "1", "r0"].map((seed) => ledger.markerOf(order, seed)));
      assert.equal(new Set(made).size, 6);
      assert.equal(ledger.markerOf(payer.address, "0"), made[3]);
      for (const seed of ["", "00", "r10", "words"]) {
        assert.throws(() => ledger.markerOf(payer.address, seed), RangeError);
      }
    },
  ),
  promise(
    "buy: of transactions that buy one marker the first succeeds, and its length is told for ever",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY });
      const { sponsor, payer } = everybody;
      const { address } = await world.wallet({ native: AMOUNT });
      const marker = await buy(world, everybody, { seed: "0", length: 3 });
      const first = planOf(everybody, marker, coin(payer, address, AMOUNT));
      const second = planOf(
        everybody,
        await buy(world, everybody, { seed: "0" }),
        coin(payer, address, AMOUNT),
      );
      assert.equal(await faultOf(world, first, sponsor, payer), null);
      for (const plan of [second, first]) {
        const fault = await faultOf(world, plan, sponsor, payer);
        assert.deepEqual(fault?.at, { move: 0, step: "allocate" });
      }
      const { markers, told } = await look(world, everybody, ["0", "1"]);
      assert.deepEqual(markers, [3, null]);
      assert.deepEqual(
        told.map(({ order }) => order.lamports),
        told.map(() => PLENTY - AMOUNT),
      );
    },
  ),
  promise(
    "buy: without rent, or of a length that is none, is a RangeError, though nobody answers",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY });
      const marker = await buy(world, everybody, { seed: "0" });
      world.breakEndpoint(0, "silent");
      world.breakEndpoint(1, "silent");
      for (const wrong of [
        { lamports: 0n },
        { lamports: -1n },
        { length: -1 },
        { length: 1.5 },
        { seed: "x" },
      ]) {
        const plan = planOf(everybody, { ...marker, ...wrong });
        await assert.rejects(world.ledger.buildTransaction(plan), RangeError);
      }
    },
  ),
  promise("empty: succeeds where nothing is left, and nothing happens where something is", async (world) => {
    const everybody = await parties(world, { native: PLENTY });
    const { sponsor, payer } = everybody;
    const { address } = await world.wallet({ native: AMOUNT });
    const assertion: Move = { does: "empty", address: payer.address, payer: sponsor.address };
    const part = planOf(everybody, coin(payer, address, AMOUNT), assertion);
    const fault = await faultOf(world, part, sponsor, payer);
    assert.deepEqual(fault?.at, { move: 1, step: "empty" });
    const all = planOf(everybody, coin(payer, address, PLENTY), assertion);
    assert.equal(await faultOf(world, all, sponsor, payer), null);
    const { told } = await look(world, everybody, []);
    assert.deepEqual(
      told.map(({ order }) => order.lamports),
      told.map(() => 0n),
    );
  }),
  promise(
    "readOrder: what each endpoint shows in one block, with the rent, an account's state and who has none",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY, tokens: ANY_TOKENS });
      const { told, rentPerByte, markers, witnesses } = await look(world, everybody, ["r0"]);
      assert.deepEqual([told.length, witnesses, markers], [2, 2, [null]]);
      assert.equal(rentOf(rentPerByte, 165), await world.wait(world.ledger.rentMinimum(165)));
      for (const { slot, blockTime, order, owners } of told) {
        assert(slot > 0 && blockTime > 0);
        const account = only(order.accounts);
        assert.deepEqual([order.lamports, account?.amount, account?.state], [PLENTY, ANY_TOKENS, "usable"]);
        assert.deepEqual(owners, [{ lamports: PLENTY, accounts: [null] }]);
      }
      await world.freeze(world.ledger.tokenAccountOf(everybody.payer.address, world.token.mint));
      await makeFinal(world);
      const after = await look(world, everybody, []);
      assert.deepEqual(
        after.told.map(({ order }) => only(order.accounts)?.state),
        ["frozen", "frozen"],
      );
    },
  ),
  promise(
    "readOrder: fewer answers than must agree are none, and a busy endpoint is no contradiction",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY });
      const mend = world.breakEndpoint(1, "refusing");
      await assert.rejects(look(world, everybody, ["0"]));
      mend();
      assert.deepEqual((await look(world, everybody, ["0"])).markers, [null]);
    },
  ),
  promise(
    "E9: readOrder: a marker that may still vanish is not told at finalized, and one that did vanish never was",
    async (world) => {
      const { ledger } = world;
      const everybody = await parties(world, { native: PLENTY });
      const plan = planOf(everybody, await buy(world, everybody, { seed: "0" }));
      const sent = async () => {
        const { bytes } = await signed(world, plan, everybody.sponsor, everybody.payer);
        await world.wait(ledger.broadcast(bytes));
      };
      const told = async () => (await look(world, everybody, ["0"])).markers;
      await world.pass(1);
      await sent();
      assert.deepEqual(await told(), [null]);
      await world.fork(1);
      await makeFinal(world);
      assert.deepEqual(await told(), [null]);
      await sent();
      await world.pass(world.blocksToFinality - 1);
      assert.deepEqual(await told(), [null]);
      await world.pass(1);
      assert.deepEqual(await told(), [0]);
    },
  ),
  promise(
    "changesOfOrder: who paid in, what the order's own key paid under which marker, on from a slot",
    async (world) => {
      const everybody = await parties(world, { native: PLENTY });
      const { sponsor, payer } = everybody;
      const giver = await world.wallet({ native: PLENTY, tokens: ANY_TOKENS });
      const payee = await world.wallet({ native: AMOUNT });
      const deposit = planOf(everybody, units(world, giver, payer.address, 100n, giver.address));
      assert.equal(await faultOf(world, deposit, sponsor, giver), null);
      const marker = await buy(world, everybody, { seed: "0" });
      const payout = planOf(everybody, marker, units(world, payer, payee.address, 60n, sponsor.address));
      assert.equal(await faultOf(world, payout, sponsor, payer), null);
      const query = {
        address: payer.address,
        mints: [world.token.mint],
        seeds: ["0"],
        rentPerByte: (await look(world, everybody, [])).rentPerByte,
      };
      const history = (since: number) => world.wait(world.ledger.changesOfOrder(query, since));
      const { changes, more } = await history(0);
      const told = changes.filter(({ changes: own }) => own[1] !== 0n);
      const [paid, sent] = told;
      assert.deepEqual([told.length, more], [2, null]);
      assert.deepEqual([paid?.isOwn, paid?.changes, paid?.payers[1]], [false, [0n, 100n], giver.address]);
      assert.deepEqual([sent?.isOwn, sent?.changes], [true, [0n, -60n]]);
      assert.deepEqual(sent?.markers, [world.ledger.markerOf(payer.address, "0")]);
      const got = (owner: Address) =>
        sent?.received.find((each) => each.owner === owner && each.mint !== null);
      assert.equal(got(payee.address)?.amount, 60n);
      const later = await history((paid?.slot ?? 0) + 1);
      assert.deepEqual(
        later.changes.map(({ signature }) => signature),
        [sent?.signature],
      );
    },
  ),
];
