/** Attacks by address lookup tables, where a v0 transaction keeps what it does not say itself (W5). */
import {
  AccountState,
  AuthorityType,
  createInitializeDefaultAccountStateInstruction,
  createInitializeMint2Instruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction,
  createSetAuthorityInstruction,
  TOKEN_2022_PROGRAM_ID,
} from "@solana/spl-token";
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from "@solana/web3.js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { DeclaredPayment } from "../../src/ledger/ledger.ts";
import { keyOf, land, rawMessage, signed, verdict } from "./signed-transaction.ts";
import { extension, verifyScene, type VerifyScene } from "./verify-scene.ts";

let scene: VerifyScene;
/** Holds everything that Alice's payments of USDC name. */
let table: AddressLookupTableAccount;

beforeAll(async () => {
  scene = await verifyScene();
  const { bob, mallory, alice, ata, mints } = scene;
  table = await scene.table([
    keyOf(bob),
    ata(bob),
    ata(alice),
    new PublicKey(mints.USDC),
    keyOf(mallory),
    ata(mallory),
    keyOf(alice),
  ]);
});
beforeEach(() => scene.chain.advance(1));
afterAll(() => scene.close());

/** Where each address stands in the table. */
const [BOB, BOBS, ALICES, MINT, MALLORY, MALLORYS, ALICE] = [0, 1, 2, 3, 4, 5, 6];

const over = (
  tables: readonly AddressLookupTableAccount[],
  instructions: readonly TransactionInstruction[],
): Promise<string> => signed(scene, { signers: [scene.alice], instructions, tables });
const judgeOver = async (
  payment: DeclaredPayment,
  tables: readonly AddressLookupTableAccount[],
  instructions = scene.honest(payment),
): Promise<string> => verdict(scene.ledger, await over(tables, instructions), payment);

/** A table's key with other addresses behind it than the chain has. */
const posing = (key: PublicKey, addresses: readonly PublicKey[]): AddressLookupTableAccount =>
  new AddressLookupTableAccount({ key, state: { ...table.state, addresses: [...addresses] } });

/** A SOL payment whose accounts 2 and up come from lookups: account 0 pays account `to`. */
const solOver = async (
  lookups: { table?: PublicKey; writable?: number[]; readonly?: number[] }[],
  to: number,
): Promise<Buffer> =>
  rawMessage({
    header: [1, 0, 1],
    keys: [keyOf(scene.alice), SystemProgram.programId],
    blockhash: await scene.blockhash(),
    instructions: [{ program: 1, accounts: [0, to], data: scene.paySol().data }],
    lookups: lookups.map((lookup) => ({ table: table.key, writable: [], readonly: [], ...lookup })),
  });

test("W5: payments over a lookup table are accepted in SOL and both stablecoins, and would succeed", async () => {
  for (const payment of [scene.sol, scene.usdc, scene.usdt]) {
    const text = await over([table], scene.honest(payment));
    const answer = await scene.ledger.verifyPayment(text, payment);
    if ("refused" in answer) throw new Error(answer.refused);
    expect(await scene.ledger.simulatePayment(answer.verified, payment)).toBeNull();
  }
  expect(await scene.judgeBytes(scene.sol, await solOver([{ writable: [BOB] }], 2))).toBe("accepted");
});

test("attack: the recipient's place in the table exchanged for another's is content_mismatch", async () => {
  expect(await scene.judgeBytes(scene.sol, await solOver([{ writable: [MALLORY] }], 2))).toBe(
    "content_mismatch",
  );
  expect(await scene.judgeBytes(scene.sol, await solOver([{ writable: [MALLORY, BOB] }], 2))).toBe(
    "content_mismatch",
  );
  // Writable ones are loaded before read-only ones, however they are listed.
  expect(
    await scene.judgeBytes(scene.sol, await solOver([{ readonly: [BOB], writable: [MALLORY] }], 2)),
  ).toBe("content_mismatch");
});

test("attack: writable and read-only accounts of two tables are told apart as the chain does", async () => {
  const { bob, mallory } = scene;
  const other = await scene.table([keyOf(mallory), keyOf(bob)]);
  // Loaded: the writable of both tables, then the read-only of both.
  const lookups = [
    { writable: [ALICES], readonly: [MALLORYS] },
    { table: other.key, writable: [1], readonly: [0] },
  ];
  expect(await scene.judgeBytes(scene.sol, await solOver(lookups, 3))).toBe("accepted");
  for (const to of [2, 4, 5]) {
    expect(await scene.judgeBytes(scene.sol, await solOver(lookups, to))).toBe("content_mismatch");
  }
});

test("attack: a transfer hidden in a table, to another's token account, is content_mismatch", async () => {
  const { payToken, createAta, ata, mallory, usdc } = scene;
  const toMallory = payToken({ to: ata(mallory) });
  expect(await judgeOver(usdc, [table], [createAta(), toMallory])).toBe("content_mismatch");
  expect(await judgeOver(usdc, [table], [createAta(), payToken(), toMallory])).toBe("content_mismatch");
});

test("attack: an index beyond the table's end is unknown_lookup_table", async () => {
  const { length } = table.state.addresses;
  for (const index of [length, 255]) {
    expect(await scene.judgeBytes(scene.sol, await solOver([{ writable: [index] }], 2))).toBe(
      "unknown_lookup_table",
    );
    const unused = await solOver([{ writable: [BOB], readonly: [index] }], 2);
    expect(await scene.judgeBytes(scene.sol, unused)).toBe("unknown_lookup_table");
  }
});

test("attack: a table that does not exist is unknown_lookup_table", async () => {
  const [nowhere] = PublicKey.findProgramAddressSync([Buffer.from("nowhere")], keyOf(scene.mallory));
  expect(await judgeOver(scene.sol, [posing(nowhere, [keyOf(scene.bob)])])).toBe("unknown_lookup_table");
});

test("attack: a wallet, a token account, a mint or a program for a table is unknown_lookup_table", async () => {
  const { mallory, ata, mints } = scene;
  const programs = [SystemProgram.programId, AddressLookupTableProgram.programId];
  for (const key of [keyOf(mallory), ata(mallory), new PublicKey(mints.USDC), ...programs]) {
    const message = await solOver([{ table: key, writable: [0] }], 2);
    expect(await scene.judgeBytes(scene.sol, message)).toBe("unknown_lookup_table");
  }
});

test("attack: a table that is being closed is unknown_lookup_table", async () => {
  const { alice, bob, sol } = scene;
  const closing = await scene.table([keyOf(bob)]);
  expect(await judgeOver(sol, [closing])).toBe("accepted");
  const close = AddressLookupTableProgram.deactivateLookupTable({
    lookupTable: closing.key,
    authority: keyOf(alice),
  });
  await land(scene, { signers: [alice], instructions: [close] });
  expect(await judgeOver(sol, [closing])).toBe("unknown_lookup_table");
});

test("attack: entries that are confirmed but not finalized, which a fork may change, are unknown_lookup_table", async () => {
  const { alice, bob, mallory, sol } = scene;
  const young = await scene.table([keyOf(mallory)]);
  const append = extension(alice, young.key, [keyOf(bob)]);
  const text = await signed(scene, { signers: [alice], instructions: [append] });
  await scene.ledger.broadcast(Buffer.from(text, "base64"));
  const appended = posing(young.key, [keyOf(mallory), keyOf(bob)]);
  expect(await judgeOver(sol, [appended])).toBe("unknown_lookup_table");
  scene.chain.advance(2);
  expect(await judgeOver(sol, [appended])).toBe("unknown_lookup_table");
  scene.chain.advance(33);
  expect(await judgeOver(sol, [appended])).toBe("accepted");
});

test.each([
  ["that it belongs to another program", { owner: "Config1111111111111111111111111111111111111" }],
  ["that it was never filled in", { data: [Buffer.alloc(56 + 32).toString("base64"), "base64"] }],
  ["what breaks off in the middle", { data: [Buffer.alloc(30, 1).toString("base64"), "base64"] }],
])("attack: a table of which a node says %s is unknown_lookup_table", async (_what, change) => {
  const lift = scene.chain.faults.add(({ method }) =>
    method === "getMultipleAccounts"
      ? {
          kind: "lie",
          answer: (honest) => {
            const { context, value } = honest as { context: unknown; value: object[] };
            return { context, value: value.map((account) => ({ ...account, ...change })) };
          },
        }
      : undefined,
  );
  try {
    expect(await judgeOver(scene.sol, [table])).toBe("unknown_lookup_table");
  } finally {
    lift();
  }
  expect(await judgeOver(scene.sol, [table])).toBe("accepted");
});

test("attack: a Token-2022 mint whose bytes read as a table, its entry for Bob to be changed later, is unknown_lookup_table", async () => {
  const { alice, bob, mallory, sol } = scene;
  const forged = scene.wallet("forged table", {});
  await land(scene, { signers: [mallory, forged], instructions: mintThatReadsAsTable(forged, bob) });
  const data = await accountData(forged);
  // Everything but its owner is as it should be: it is active, and its fifth entry is Bob.
  const read = new AddressLookupTableAccount({
    key: keyOf(forged),
    state: AddressLookupTableAccount.deserialize(data),
  });
  expect(read.isActive()).toBe(true);
  expect(read.state.addresses[5]?.toBase58()).toBe(bob.address);
  const message = await solOver([{ table: keyOf(forged), writable: [5] }], 2);
  expect(await scene.judgeBytes(sol, message)).toBe("unknown_lookup_table");

  // What it would be good for: Bob moves on, and the same bytes name Mallory.
  const change = createSetAuthorityInstruction(
    keyOf(forged),
    keyOf(bob),
    AuthorityType.CloseMint,
    keyOf(mallory),
    [],
    TOKEN_2022_PROGRAM_ID,
  );
  await land(scene, { signers: [alice, bob], instructions: [change] });
  const { addresses } = AddressLookupTableAccount.deserialize(await accountData(forged));
  expect(addresses[5]?.toBase58()).toBe(mallory.address);
});

test("attack: a table that brings the fee payer a second time is unknown_lookup_table", async () => {
  const message = await solOver([{ writable: [BOB, ALICE] }], 2);
  expect(await scene.judgeBytes(scene.sol, message)).toBe("unknown_lookup_table");
  const paidByTwin = rawMessage({
    header: [1, 0, 1],
    keys: [keyOf(scene.alice), SystemProgram.programId],
    blockhash: await scene.blockhash(),
    instructions: [{ program: 1, accounts: [3, 2], data: scene.paySol().data }],
    lookups: [{ table: table.key, writable: [BOB, ALICE], readonly: [] }],
  });
  expect(await scene.judgeBytes(scene.sol, paidByTwin)).toBe("unknown_lookup_table");
});

test("attack: an account that two lookups bring, or one brings twice, is unknown_lookup_table", async () => {
  const { bob, sol } = scene;
  const other = await scene.table([keyOf(bob)]);
  const twice = [
    [{ writable: [BOB], readonly: [BOB] }],
    [{ writable: [BOB, BOB] }],
    [{ writable: [BOB] }, { table: other.key, writable: [0] }],
    [{ writable: [BOB] }, { writable: [BOB] }],
  ];
  for (const lookups of twice) {
    expect(await scene.judgeBytes(sol, await solOver(lookups, 2))).toBe("unknown_lookup_table");
  }
});

test("one table that is listed twice, for different entries, is accepted", async () => {
  const message = await solOver([{ writable: [BOB] }, { readonly: [MINT] }], 2);
  expect(await scene.judgeBytes(scene.sol, message)).toBe("accepted");
});

test("attack: a good table beside an unknown one is unknown_lookup_table", async () => {
  const message = await solOver([{ writable: [BOB] }, { table: keyOf(scene.mallory), readonly: [BOBS] }], 2);
  expect(await scene.judgeBytes(scene.sol, message)).toBe("unknown_lookup_table");
});

/**
 * Bytes 4 to 36 of a mint are its authority, free to choose, where a table says whether it is active; behind three
 * extensions that only fill, the one who may close the mint stands exactly where a table has its sixth address.
 */
function mintThatReadsAsTable(
  mint: { address: string },
  closer: { address: string },
): TransactionInstruction[] {
  const key = new PublicKey(mint.address);
  const program = TOKEN_2022_PROGRAM_ID;
  const authority = Buffer.alloc(32);
  authority.fill(0xff, 0, 8);
  return [
    SystemProgram.createAccount({
      fromPubkey: keyOf(scene.mallory),
      newAccountPubkey: key,
      lamports: 10_000_000,
      space: 56 + 6 * 32,
      programId: program,
    }),
    createInitializePausableConfigInstruction(key, keyOf(scene.mallory), program),
    createInitializeNonTransferableMintInstruction(key, program),
    createInitializeDefaultAccountStateInstruction(key, AccountState.Initialized, program),
    createInitializeMintCloseAuthorityInstruction(key, new PublicKey(closer.address), program),
    createInitializeMint2Instruction(key, 0, new PublicKey(authority), null, program),
  ];
}

async function accountData({ address }: { address: string }): Promise<Buffer> {
  const body = { jsonrpc: "2.0", id: 1, method: "getAccountInfo", params: [address, { encoding: "base64" }] };
  const answer = await scene.chain.fetch("http://local", { body: JSON.stringify(body) });
  const { result } = (await answer.json()) as { result: { value: { data: [string, string] } } };
  return Buffer.from(result.value.data[0], "base64");
}
