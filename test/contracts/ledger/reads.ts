/** The ledger contract on what is read of the chain: where it is, who holds what, what stands where. */
import { fatesOf } from "../../kit/fates.ts";
import assert from "node:assert/strict";
import { promise, type LedgerContractCase } from "./contract.ts";
import { AMOUNT, native, PLENTY, ready, statusOf, wealth } from "./payments.ts";
import { receiptsOf } from "../../kit/receipts.ts";

/** Reads: as of confirmed, in the order asked, with slot and endpoint. */
export const readCases: readonly LedgerContractCase[] = [
  promise("the chain has one identity, the same every time", async ({ ledger }) => {
    const hash = await ledger.genesisHash();
    assert.notEqual(hash, "");
    assert.equal(await ledger.genesisHash(), hash);
  }),
  promise("the position is the newest finalized slot and grows with the chain", async (world) => {
    const before = await world.ledger.position();
    assert(world.endpoints.includes(before.endpoint));
    await world.pass(10);
    const after = await world.ledger.position();
    assert(after.slot >= before.slot + 10);
    const { slot } = await world.ledger.balances((await world.wallet({})).address);
    assert(after.slot <= slot, "what is finalized is never ahead of what is confirmed");
  }),
  promise("H18: an address that was never used holds nothing", async (world) => {
    const { lamports, holdings, endpoint } = await world.ledger.balances((await world.wallet({})).address);
    assert.deepEqual([lamports, holdings], [0n, []]);
    assert(world.endpoints.includes(endpoint));
  }),
  promise("a balance is counted in base units, exactly", async (world) => {
    const { address } = await world.wallet({ native: PLENTY + 1n, tokens: 9_007_199_254_740_993n });
    const { lamports, holdings } = await world.ledger.balances(address);
    assert.equal(lamports, PLENTY + 1n);
    assert.deepEqual(
      holdings.map(({ mint, amount, decimals }) => ({ mint, amount, decimals })),
      [{ ...world.token, amount: 9_007_199_254_740_993n }],
    );
  }),
  promise("of some mints a balance is of these alone", async (world) => {
    const { address } = await world.wallet({ native: PLENTY, tokens: 5n });
    const { mint } = world.token;
    const of = await world.ledger.balances(address, [mint]);
    assert.deepEqual(
      of.holdings.map((each) => each.mint),
      [mint],
    );
    const { lamports, holdings } = await world.ledger.balances(address, []);
    assert.deepEqual([lamports, holdings], [PLENTY, []]);
  }),
  promise("what is only processed is in no balance, and what is confirmed is", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
    const attempt = await ready(world, from, native(from, to));
    await world.ledger.broadcast(attempt.bytes);
    assert.equal((await statusOf(world, attempt))?.commitment, "processed");
    assert.equal(await wealth(world, to.address), PLENTY);
    while ((await statusOf(world, attempt))?.commitment === "processed") await world.pass(1);
    assert.equal(await wealth(world, to.address), PLENTY + AMOUNT);
  }),
  promise("a later read is of a later slot", async (world) => {
    const { address } = await world.wallet({ native: PLENTY });
    const { slot } = await world.ledger.balances(address);
    await world.pass(3);
    assert((await world.ledger.balances(address)).slot >= slot + 3);
  }),
  promise("what stands at an address is told for each of many, in the order asked", async (world) => {
    const asked = Array.from({ length: 70 }, () => world.landmarks).flat();
    assert(asked.length > 200);
    const kinds = await world.ledger.accountKinds(asked.map(([address]) => address));
    assert.deepEqual(
      kinds,
      asked.map(([, kind]) => kind),
    );
  }),
  promise("M12: a mint says its program and decimals, and nothing else is a mint", async (world) => {
    const { ledger, token, others, landmarks } = world;
    await world.wallet({ others: 1n });
    const notMints = landmarks.filter(([, kind]) => kind !== "mint").map(([address]) => address);
    assert.deepEqual(await ledger.mints([others.mint, ...notMints, token.mint]), [
      { program: others.program, decimals: others.decimals },
      ...notMints.map(() => null),
      { program: "token", decimals: token.decimals },
    ]);
  }),
  promise(
    "M12: an associated token account is usable, frozen or absent, each in its place",
    async (world) => {
      const { ledger, token } = world;
      const mint = token.mint;
      const [open, frozen] = [await world.wallet({ tokens: 1n }), await world.wallet({ tokens: 1n })];
      const nobody = await world.wallet({});
      await world.freeze(ledger.tokenAccountOf(frozen.address, mint));
      const asked = [open, frozen, nobody, open].map(({ address: owner }) => ({ owner, mint }));
      assert.deepEqual(await ledger.tokenAccountStates(asked), ["usable", "frozen", "absent", "usable"]);
    },
  ),
  promise("a wallet's address is on the curve, which is told at once", async ({ ledger, wallet }) => {
    assert.equal(ledger.isOnCurve((await wallet({})).address), true);
  }),
  promise("nothing asked is nothing answered, whoever is broken", async (world) => {
    world.breakEndpoint(0, "silent");
    world.breakEndpoint(1, "silent");
    const { ledger } = world;
    assert.deepEqual(await world.wait(ledger.accountKinds([])), []);
    assert.deepEqual(await world.wait(ledger.mints([])), []);
    assert.deepEqual(await world.wait(ledger.tokenAccountStates([])), []);
    assert.deepEqual(await world.wait(ledger.statuses([])), []);
    assert.deepEqual(await world.wait(receiptsOf(ledger, [])), []);
    assert.deepEqual(await world.wait(fatesOf(ledger, [])), []);
  }),
];
