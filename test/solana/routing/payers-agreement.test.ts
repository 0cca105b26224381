/** Who paid, told by several nodes of which one lies, is silent, or has forgotten. */
import { createTransferCheckedInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import bs58 from "bs58";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import { EndpointsDifferError, LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { gone, lyingAbout, oddEndpoint, restoredAt, type OddEndpoint } from "../../kit/odd-endpoints.ts";
import { renaming } from "../../kit/renamed-payer.ts";
import { elapsed } from "../scripted-node.ts";
import { land } from "../signed-transaction.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { routingTest } from "./routing-test.ts";

interface World extends RoutingFixture {
  readonly one: OddEndpoint;
  readonly two: OddEndpoint;
  readonly three: OddEndpoint;
  /** Pays 20 units of USDC to the target, which has none before. */
  readonly dave: Party;
  readonly erin: Party;
  readonly target: Party;
  /** The signature of Dave's payment. */
  readonly signature: string;
}

const SOL = 1_000_000_000n;

const test = routingTest.extend("world", async ({ open }): Promise<World> => {
  const world = await open();
  const { chain, mints, party, ata } = world;
  const dave = party({ lamports: SOL, usdc: 50n });
  const [erin, target] = [party({ lamports: SOL }), party({ usdc: 1n })];
  const [source, to, mint] = [ata(dave.address), ata(target.address), new PublicKey(mints.USDC)];
  const pay = createTransferCheckedInstruction(source, mint, to, new PublicKey(dave.address), 20n, 6);
  const signature = await land(world, { signers: [dave], instructions: [pay] });
  const named = (name: string): OddEndpoint => oddEndpoint(chain, name);
  return {
    ...world,
    one: named("one"),
    two: named("two"),
    three: named("three"),
    dave,
    erin,
    target,
    signature,
  };
});

/** Who paid 20 units to the target, as this ledger tells. */
async function payerOf({ target, mints, clock }: World, ledger: Ledger): Promise<Address | undefined> {
  const search = { accounts: [], isExplained: () => false };
  const read = ledger.payersOf(target.address, [mints.USDC], search);
  // A node that does not have what another lists is asked until it should have caught up.
  await elapsed(clock, read);
  const { inflows } = await read;
  return inflows.find(({ amount }) => amount === 20n)?.from[0]?.payer;
}

describe("M19: a node that renames the payer of a deposit", () => {
  test.for(["one", "two"] as const)(
    "is not believed while the other of two (it is %s) tells another",
    async (liar, { world }) => {
      const { one, two, dave, erin, signature } = world;
      const ledger = world.ledgerOf([one.option, two.option]);
      world[liar].rule = renaming(dave.address, erin.address);
      await expect(payerOf(world, ledger)).rejects.toThrow(EndpointsDifferError);
      const subject = `the content of transaction ${signature}`;
      expect((await ledger.disputes()).map((each) => each.subject)).toContain(subject);
      world[liar].rule = undefined;
      expect(await payerOf(world, ledger)).toBe(dave.address);
      expect(await ledger.disputes()).toEqual([]);
    },
  );

  test("is outvoted by two others that tell the same", async ({ world }) => {
    const { one, two, three, dave, erin } = world;
    const ledger = world.ledgerOf([one.option, two.option, three.option]);
    one.rule = renaming(dave.address, erin.address);
    expect(await payerOf(world, ledger)).toBe(dave.address);
  });

  test("is not believed while the other of two is silent", async ({ world }) => {
    const { one, two, dave, erin } = world;
    const ledger = world.ledgerOf([one.option, two.option]);
    [one.rule, two.rule] = [renaming(dave.address, erin.address), gone];
    await expect(payerOf(world, ledger)).rejects.toThrow("1 of the 2 Solana nodes");
  });

  test("is believed alone: with one endpoint its word is all there is", async ({ world }) => {
    const { one, dave, erin } = world;
    one.rule = renaming(dave.address, erin.address);
    expect(await payerOf(world, world.ledgerOf([one.option]))).toBe(erin.address);
  });
});

test("M19: a silent node of three is no contradiction", async ({ world }) => {
  const { one, two, three, dave } = world;
  const ledger = world.ledgerOf([one.option, two.option, three.option]);
  one.rule = gone;
  expect(await payerOf(world, ledger)).toBe(dave.address);
});

test.for(["one", "two"] as const)(
  "M19, M34: a node (%s of two) that lists every transaction as failed hides no payer",
  async (liar, { world }) => {
    const { one, two, dave } = world;
    const ledger = world.ledgerOf([one.option, two.option]);
    const err = { InstructionError: [0, { Custom: 1 }] };
    world[liar].rule = lyingAbout("getSignaturesForAddress", (honest: object[]) =>
      honest.map((each) => ({ ...each, err })),
    );
    expect(await payerOf(world, ledger)).toBe(dave.address);
    const signed = await ledger.signedBy(dave.address);
    expect(signed.transactions).toMatchObject([{ signature: world.signature, error: null }]);
  },
);

test("M19: a transaction that one node lists and no other has must be explained", async ({ world }) => {
  const { one, two, three } = world;
  const ledger = world.ledgerOf([one.option, two.option, three.option]);
  const invented = bs58.encode(new Uint8Array(64).fill(7));
  two.rule = lyingAbout("getSignaturesForAddress", (honest: object[]) => [
    { signature: invented, slot: 3, err: null, memo: null, blockTime: 0 },
    ...honest,
  ]);
  await expect(payerOf(world, ledger)).rejects.toThrow(
    `nodes differ about the content of transaction ${invented}`,
  );
});

test("M19: one node that lists what it does not have is unavailable, and no dispute", async ({ world }) => {
  const { one } = world;
  const ledger = world.ledgerOf([one.option]);
  one.rule = lyingAbout("getTransaction", () => null);
  await expect(payerOf(world, ledger)).rejects.toThrow(LedgerUnavailable);
  expect(await ledger.disputes()).toEqual([]);
});

test("M19: an archive node is enough where the other has forgotten, and not where the other has the history", async ({
  world,
}) => {
  const { one, two, dave, chain } = world;
  const archive = { ...one.option, archive: true };
  const ledger = world.ledgerOf([archive, two.option]);
  two.rule = restoredAt(chain.slot());
  expect(await payerOf(world, ledger)).toBe(dave.address);
  await expect(payerOf(world, world.ledgerOf([one.option, two.option]))).rejects.toThrow(
    EndpointsDifferError,
  );
  two.rule = lyingAbout("getTransaction", () => null);
  await expect(payerOf(world, world.ledgerOf([archive, two.option]))).rejects.toThrow(EndpointsDifferError);
});

test("M25: payers that one node told while one was enough are asked for again when two must agree", async ({
  world,
}) => {
  const { one, two, dave, erin } = world;
  const ledger = world.ledgerOf([one.option, two.option]);
  const [lowered, again] = [
    await ledger.restricted({ witnesses: 1, without: ["two.example"] }),
    await ledger.restricted({ witnesses: null, without: [] }),
  ];
  one.rule = renaming(dave.address, erin.address);
  const search = { accounts: [], isExplained: () => false };
  const told = await lowered.payersOf(world.target.address, [world.mints.USDC], search);
  expect(told.inflows.find(({ amount }) => amount === 20n)?.from[0]?.payer).toBe(erin.address);
  one.rule = undefined;
  const agreed = await again.payersOf(world.target.address, [world.mints.USDC], search);
  expect(agreed.inflows.find(({ amount }) => amount === 20n)?.from[0]?.payer).toBe(dave.address);
});
