/** What the moves of markers say, byte by byte: an account, an owner or an allowance in the wrong place costs money. */
import { agreed } from "../../../src/ledger/agreed.ts";
import {
  ComputeBudgetProgram,
  PublicKey,
  SystemInstruction,
  SystemProgram,
  TransactionInstruction,
  VersionedMessage,
} from "@solana/web3.js";
import { TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { expect } from "vitest";
import type { Move } from "../../../src/ledger/routing.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";

const WRAPPED_SOL = "So11111111111111111111111111111111111111112";

/** A deposit address, and what a marker costs. */
interface Scene extends Omit<RoutingFixture, "deposit"> {
  readonly deposit: Party;
  readonly rent: bigint;
}

const test = sharedRoutingTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  deposit: world.party({ lamports: 1_000_000_000n }),
  rent: await world.ledger.rentMinimum(165),
}));

interface Read {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Buffer;
}

/** The instructions of a plan behind those of its budget. */
async function instructionsOf(scene: Scene, ...moves: readonly Move[]): Promise<readonly Read[]> {
  const { message } = await scene.ledger.buildTransaction(scene.plan(...moves));
  const { staticAccountKeys, compiledInstructions } = VersionedMessage.deserialize(message);
  const keyAt = (index: number): string => String(staticAccountKeys[index]);
  const read = compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    program: keyAt(programIdIndex),
    accounts: accountKeyIndexes.map(keyAt),
    data: Buffer.from(data),
  }));
  expect(read.slice(0, 2).map(({ program }) => program)).toEqual(
    [0, 1].map(() => String(ComputeBudgetProgram.programId)),
  );
  return read.slice(2);
}

/** The three instructions that make the marker of a seed. */
function making(scene: Scene, seed: string): readonly Read[] {
  const { deposit, rent } = scene;
  const marker = scene.ledger.markerAddress(deposit.address, seed);
  const key = (address: string): Buffer => Buffer.from(new PublicKey(address).toBytes());
  const number = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    return bytes;
  };
  return [
    {
      program: String(SystemProgram.programId),
      accounts: [marker, deposit.address],
      data: Buffer.concat([
        Buffer.from([9, 0, 0, 0]),
        key(deposit.address),
        number(BigInt(seed.length)),
        Buffer.from(seed),
        number(165n),
        key(String(TOKEN_PROGRAM_ID)),
      ]),
    },
    {
      program: String(SystemProgram.programId),
      accounts: [scene.sponsor.address, marker],
      data: Buffer.concat([Buffer.from([2, 0, 0, 0]), number(rent)]),
    },
    {
      program: String(TOKEN_PROGRAM_ID),
      accounts: [marker, WRAPPED_SOL],
      data: Buffer.concat([Buffer.from([18]), key(deposit.address)]),
    },
  ];
}

test("a mark allocates 165 bytes for the Token program, pays their rent and opens a wrapped-SOL account", async ({
  scene,
}) => {
  const { deposit } = scene;
  const read = await instructionsOf(scene, scene.mark(deposit, "words"));
  expect(read).toEqual(making(scene, "words"));
  const [allocate] = read;
  if (allocate === undefined) throw new RangeError("an instruction is missing");
  const decoded = SystemInstruction.decodeAllocateWithSeed(
    new TransactionInstruction({
      programId: new PublicKey(allocate.program),
      keys: allocate.accounts.map((account) => ({
        pubkey: new PublicKey(account),
        isSigner: false,
        isWritable: false,
      })),
      data: allocate.data,
    }),
  );
  expect(decoded).toMatchObject({ seed: "words", space: 165 });
});

test("a replacement makes the marker of the words, approves the plan's marker for 1, and makes that one", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { ledger, replace } = scene;
  const [words, plan] = ["words", "plan"].map((seed) => ledger.markerAddress(deposit.address, seed));
  expect(await instructionsOf(scene, replace(deposit, "plan", "words"))).toEqual([
    ...making(scene, "words"),
    {
      program: String(TOKEN_PROGRAM_ID),
      accounts: [words, plan, deposit.address],
      data: Buffer.from([4, 1, 0, 0, 0, 0, 0, 0, 0]),
    },
    ...making(scene, "plan"),
  ]);
});

test("a plan that would replace itself is a RangeError: it could never be made", async ({ scene }) => {
  const { deposit } = scene;
  const { ledger, plan, replace } = scene;
  for (const asked of [ledger.buildTransaction, ledger.sizeOf]) {
    await expect(asked(plan(replace(deposit, "same", "same")))).rejects.toThrow(RangeError);
  }
});

test("following revokes at the plan's marker, unmarking closes the marker, both as the base", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { ledger, follow, unmark, sponsor } = scene;
  const marker = ledger.markerAddress(deposit.address, "seed");
  expect(await instructionsOf(scene, follow(deposit, "seed"), unmark(deposit, "seed"))).toEqual([
    {
      program: String(TOKEN_PROGRAM_ID),
      accounts: [marker, deposit.address],
      data: Buffer.from([5]),
    },
    {
      program: String(TOKEN_PROGRAM_ID),
      accounts: [marker, sponsor.address, deposit.address],
      data: Buffer.from([9]),
    },
  ]);
});

test("the built transaction says what each marker costs, and nothing where it makes none", async ({
  scene,
}) => {
  const { deposit, rent } = scene;
  const { ledger, plan, mark, replace, follow, unmark } = scene;
  const rentIn = async (...moves: readonly Move[]): Promise<bigint> =>
    (await ledger.buildTransaction(plan(...moves))).markerRent;
  expect(await rentIn(mark(deposit))).toBe(rent);
  expect(await rentIn(replace(deposit, "plan"))).toBe(rent);
  expect(await rentIn(follow(deposit, "plan"), unmark(deposit))).toBe(0n);
});

test("E15: a marker that costs more by now than it was built with is not made, and nobody is blamed", async ({
  scene,
}) => {
  const { deposit, rent } = scene;
  const { ledger, plan, mark, sign, chain } = scene;
  const marking = plan(mark(deposit, "cheap"));
  const unsigned = await ledger.buildTransaction(marking);
  const { bytes, signature } = await sign(marking, deposit);
  chain.setRent(rent / 293n + 1n);
  try {
    expect(await ledger.tryTransaction(marking, unsigned)).toMatchObject({ kind: "other", move: 0 });
    await ledger.broadcast(bytes);
    chain.advance(33);
    const [status] = await ledger.statuses([signature]);
    expect(await ledger.explainError(marking, agreed<string>(status?.error ?? ""))).toMatchObject({
      kind: "other",
      move: 0,
    });
    expect(await scene.markers(deposit, "cheap")).toEqual(["unmade"]);
  } finally {
    chain.setRent(rent / 293n);
  }
});
