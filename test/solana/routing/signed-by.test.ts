/** What an address signed itself: how a restored database finds out that it is an old one. */
import { expect } from "vitest";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import type { Fetch } from "../../../src/solana/index.ts";
import { lyingAbout, oddEndpoint } from "../../kit/odd-endpoints.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { routingTest } from "./routing-test.ts";

const SOL = 1_000_000_000n;

/** A deposit address that holds something. */
interface Scene extends Omit<RoutingFixture, "deposit"> {
  readonly deposit: Party;
}

const test = routingTest.extend("scene", async ({ world }): Promise<Scene> => ({
  ...world,
  deposit: world.party({ lamports: 10n * SOL, usdc: 1_000_000n }),
}));

/** A node that changes what it answers to one method. */
const node = (scene: Scene, method: string, change: (result: never) => unknown) =>
  oddEndpoint(scene.chain, "node", lyingAbout(method, change));

test("an entry that one node silently left out counts when another one lists it", async ({ scene }) => {
  const { deposit } = scene;
  const { ledgerOf, plan, mark, sol, nobody, carryOut, chain } = scene;
  const { signed } = await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  const forgetful = node(scene, "getSignaturesForAddress", () => []).option;
  const alone = ledgerOf([forgetful]);
  expect((await alone.signedBy(deposit.address)).transactions).toEqual([]);
  const both = ledgerOf([forgetful, { url: "http://honest", fetch: chain.fetch }]);
  expect((await both.signedBy(deposit.address)).transactions).toMatchObject([
    { signature: signed.signature },
  ]);
  await alone.close();
  await both.close();
});

test("what a node lists under a signature of zeros is none, and hides nothing that stands beside it", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { ledgerOf, plan, mark, sol, nobody, carryOut } = scene;
  const { signed } = await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  const refused = { signature: "1".repeat(64), slot: 1, err: "BlockhashNotFound", blockTime: 1, memo: null };
  const listing = node(scene, "getSignaturesForAddress", (honest: readonly object[]) => [refused, ...honest]);
  const ledger = ledgerOf([listing.option]);
  const { transactions, isWhole } = await ledger.signedBy(deposit.address);
  expect(isWhole).toBe(true);
  expect(transactions.map(({ signature }) => signature)).toEqual([signed.signature]);
  await ledger.close();
});

test("a finalized transaction is read once, whoever asks whether he signed it; the list is asked for each time", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { ledgerOf, plan, mark, sol, nobody, carryOut, sponsor } = scene;
  const first = await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  const { calls, option } = oddEndpoint(scene.chain, "local");
  const ledger = ledgerOf([option]);
  const callsOf = (method: string): number => calls.filter((made) => made === method).length;
  const signedBy = async (address: Party["address"]): Promise<readonly string[]> =>
    (await ledger.signedBy(address)).transactions.map(({ signature }) => signature);
  const read = (): number => callsOf("getTransaction");
  expect(await signedBy(deposit.address)).toEqual([first.signed.signature]);
  const all = read();
  expect(await signedBy(deposit.address)).toEqual([first.signed.signature]);
  expect(read()).toBe(all);
  expect(callsOf("getSignaturesForAddress")).toBe(2);
  // What has come since is found, and is all that is read.
  const second = await carryOut(plan(mark(deposit, "1"), sol(deposit, nobody(), SOL)), deposit);
  expect(await signedBy(deposit.address)).toEqual([second.signed.signature, first.signed.signature]);
  expect(read()).toBe(all + 1);
  expect(await signedBy(sponsor.address)).toContain(first.signed.signature);
  await ledger.close();
});

test("what a lagging node did not list or have is asked for again, and found when it has it", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { ledgerOf, plan, mark, sol, nobody, carryOut, clock } = scene;
  const { signed } = await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  const lagging = node(scene, "getSignaturesForAddress", () => []);
  const ledger = ledgerOf([lagging.option]);
  expect((await ledger.signedBy(deposit.address)).transactions).toEqual([]);
  lagging.rule = lyingAbout("getTransaction", () => null);
  const outcome = ledger.signedBy(deposit.address).catch((error: unknown) => error);
  for (let tick = 0; tick < 200; tick += 1) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await outcome).toBeInstanceOf(LedgerUnavailable);
  lagging.rule = undefined;
  expect((await ledger.signedBy(deposit.address)).transactions).toMatchObject([
    { signature: signed.signature },
  ]);
  await ledger.close();
});

test("a transaction that is listed and cannot be read is not passed over: the answer is unknown", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { ledgerOf, plan, mark, sol, nobody, carryOut, clock } = scene;
  await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  const ledger = ledgerOf([node(scene, "getTransaction", () => null).option]);
  const outcome = ledger.signedBy(deposit.address).catch((error: unknown) => error);
  // The tries in between are pauses of its clock.
  for (let tick = 0; tick < 200; tick += 1) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await outcome).toBeInstanceOf(LedgerUnavailable);
  await ledger.close();
});

// A transaction with two signers: the count, two signatures, the version, the header, the count of keys, and the keys.
const SECOND_SIGNATURE = 1 + 64;
const SECOND_KEY = SECOND_SIGNATURE + 64 + 1 + 3 + 1 + 32;

test.for([
  ["names another signer", SECOND_KEY],
  ["has made a signature up", SECOND_SIGNATURE],
] as const)(
  "M32: a node that %s is not believed, and what it tells is not remembered",
  async ([, place], { scene }) => {
    const { deposit } = scene;
    const { ledgerOf, plan, mark, sol, nobody, carryOut } = scene;
    const { signed } = await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
    const forge = (told: { readonly transaction: readonly [string, string] }): unknown => {
      const bytes = Buffer.from(told.transaction[0], "base64");
      // The deposit address signed beside the sponsor; what funded it has one signer.
      if (bytes.readUInt8(0) === 2) bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
      return { ...told, transaction: [bytes.toString("base64"), "base64"] };
    };
    const forging = node(scene, "getTransaction", forge);
    const ledger = ledgerOf([forging.option]);
    await expect(ledger.signedBy(deposit.address)).rejects.toThrow(LedgerUnavailable);
    forging.rule = undefined;
    expect((await ledger.signedBy(deposit.address)).transactions).toMatchObject([
      { signature: signed.signature },
    ]);
    await ledger.close();
  },
);

test("P15: an address named by 1,000 transactions or more says that its history is not whole", async ({
  scene,
}) => {
  const { chain, ledgerOf, nobody } = scene;
  const flooded = nobody();
  chain.fund(flooded, { lamports: SOL });
  chain.advance(33);
  for (const [count, isWhole] of [
    [999, true],
    [1_000, false],
  ] as const) {
    const many = (list: readonly unknown[]): unknown[] => Array.from({ length: count }, () => list[0]);
    const ledger = ledgerOf([node(scene, "getSignaturesForAddress", many).option]);
    expect(await ledger.signedBy(flooded)).toEqual({ transactions: [], isWhole });
    await ledger.close();
  }
});

test("P15: transactions are read at most eight at a time", async ({ scene }) => {
  const { chain, ledgerOf, nobody } = scene;
  const named = nobody();
  for (let index = 0; index < 30; index += 1) chain.fund(named, { lamports: SOL });
  chain.advance(33);
  let most = 0;
  let open = 0;
  const fetch: Fetch = async (url, init) => {
    open += 1;
    most = Math.max(most, open);
    try {
      return await chain.fetch(url, init);
    } finally {
      open -= 1;
    }
  };
  const ledger = ledgerOf([{ url: "http://local", fetch }]);
  expect(await ledger.signedBy(named)).toEqual({ transactions: [], isWhole: true });
  expect(most).toBe(8);
  await ledger.close();
});
