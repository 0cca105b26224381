/** Programs that come to a chain when they are first touched: no client can tell that they were late. */
import { createInitializeMint2Instruction, TOKEN_2022_PROGRAM_ID } from "@solana/spl-token";
import { AddressLookupTableProgram, PublicKey, StakeProgram } from "@solana/web3.js";
import { expect, test } from "vitest";
import { connect, keyOf, signed, SOL, somebody, stillChain } from "./kit.ts";

const LOADER = new PublicKey("BPFLoaderUpgradeab1e11111111111111111111111");
const LATE = [TOKEN_2022_PROGRAM_ID, AddressLookupTableProgram.programId, StakeProgram.programId];

test("each is executable from the first slot on, and holds the address of its code", async () => {
  const connection = connect(await stillChain(), "processed");
  for (const program of LATE) {
    const account = await connection.getAccountInfo(program);
    expect(account).toMatchObject({ executable: true, owner: LOADER });
    const code = await connection.getAccountInfo(new PublicKey(account?.data.subarray(4) ?? []));
    expect(code?.data.length).toBeGreaterThan(100_000);
  }
});

test("the code alone may be asked for first", async () => {
  const [one, other] = [await stillChain(), await stillChain()];
  const account = await connect(one).getAccountInfo(TOKEN_2022_PROGRAM_ID, "processed");
  const code = new PublicKey(account?.data.subarray(4) ?? []);
  const held = await connect(other).getAccountInfo(code, "processed");
  const same = await connect(one).getAccountInfo(code, "processed");
  expect(same?.data.equals(held?.data ?? Buffer.alloc(0))).toBe(true);
});

test("the loader's accounts are all listed", async () => {
  const listed = await connect(await stillChain(), "processed").getProgramAccounts(LOADER);
  const addresses = listed.map(({ pubkey }) => pubkey.toBase58());
  expect(addresses).toEqual(expect.arrayContaining(LATE.map((program) => program.toBase58())));
  expect(addresses).toHaveLength(2 * (LATE.length + 1)); // and the Token program, which is never late
});

test("one runs in the first simulation that names it", async () => {
  const chain = await stillChain();
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: SOL }));
  const mint = createInitializeMint2Instruction(somebody(), 6, alice.publicKey, null, TOKEN_2022_PROGRAM_ID);
  const { blockhash } = await connection.getLatestBlockhash();
  const { value } = await connection.simulateTransaction(signed(blockhash, [mint], [alice]));
  expect(value.logs?.[0]).toBe(`Program ${TOKEN_2022_PROGRAM_ID.toBase58()} invoke [1]`);
});
