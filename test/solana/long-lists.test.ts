/** Addresses with thousands of token accounts: anybody may ask what they hold, and no one else waits for the answer. */
import bs58 from "bs58";
import { afterEach, expect, test } from "vitest";
import { addressOf, type Address } from "../../src/core/address.ts";
import { assetsWith } from "../../src/payments/frame/assets/assets.ts";
import { readBalances } from "../../src/payments/frame/assets/read-balances.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { ACCOUNTS_PER_TURN } from "../../src/solana/rpc/account.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { result, scriptedNode, type Call, type Reply, type ScriptedNode } from "./scripted-node.ts";

const MANY = 4_000;
const address = (number: number): Address => {
  const bytes = Buffer.alloc(32, 1);
  bytes.writeUInt32BE(number);
  return addressOf(bytes);
};
const OWNER = address(1);
const stablecoins = { USDC: address(2), USDT: address(3) };

/** Each of another mint, with one unit in it. */
const ofManyMints = Array.from({ length: MANY }, (_, index) => {
  const data = Buffer.alloc(165);
  data.set(bs58.decode(address(1_000_000 + index)));
  data.set(bs58.decode(OWNER), 32);
  data.writeBigUInt64LE(1n, 64);
  data[108] = 1;
  return {
    pubkey: address(2_000_000 + index),
    account: {
      executable: false,
      lamports: 1,
      owner: TOKEN_PROGRAM,
      data: [data.toString("base64"), "base64"],
    },
  };
});

const CONTEXT = { slot: 1_000 };

/** The owner has thousands of accounts of this program, and none of the stablecoins. */
const manyOf =
  (program: string): Reply =>
  (call) =>
    result({ context: CONTEXT, value: valueOf(call, program) })(call);

function valueOf({ method, params }: Call, program: string): unknown {
  if (method === "getBalance") return 5;
  if (method === "getMultipleAccounts") return (params[0] as readonly string[]).map(() => null);
  return (params[1] as { readonly programId?: string }).programId === program ? ofManyMints : [];
}

const ledgers: ReturnType<typeof solanaLedger>[] = [];
afterEach(() => Promise.all(ledgers.splice(0).map((each) => each.close())));

function ledgerOf({ fetch }: ScriptedNode): ReturnType<typeof solanaLedger> {
  const endpoints = [{ url: "https://node.example", fetch }];
  const ledger = solanaLedger({ endpoints, clock: virtualClock(), logger: silentLogger });
  ledgers.push(ledger);
  return ledger;
}

test("thousands of tokens that are not shown cost the provider no call", async () => {
  const [empty, full] = [manyOf("none"), manyOf(TOKEN_PROGRAM)].map((reply) => scriptedNode(reply));
  if (empty === undefined || full === undefined) throw new Error("two nodes");
  for (const node of [empty, full]) {
    const asked = { ledger: ledgerOf(node), assets: assetsWith(stablecoins) };
    expect(await readBalances(asked, OWNER)).toEqual({ address: OWNER, sol: "0.000000005", tokens: [] });
  }
  expect(full.calls).toEqual(empty.calls);
});

test("thousands of accounts are read in turns, between which others have theirs", async () => {
  let turns = 0;
  let isRead = false;
  const turn = (): void => {
    turns += 1;
    if (!isRead) setImmediate(turn);
  };
  const node = scriptedNode((call) => {
    if (call.method === "getTokenAccountsByOwner") setImmediate(turn);
    if (call.method === "getMultipleAccounts") isRead = true;
    return manyOf(TOKEN_2022_PROGRAM)(call);
  });
  await ledgerOf(node).balances(OWNER, []);
  expect(turns).toBeGreaterThanOrEqual(MANY / ACCOUNTS_PER_TURN - 1);
});

test("the token accounts of 250 owners are read in as few calls as take them", async () => {
  const lists: number[] = [];
  const node = scriptedNode((call) => {
    const { method, params } = call;
    if (method === "getMultipleAccounts") lists.push((params[0] as readonly string[]).length);
    return manyOf("none")(call);
  });
  const ledger = ledgerOf(node);
  expect(await ledger.tokenAccountStates([])).toEqual([]);
  lists.splice(0);
  const owners = Array.from({ length: 250 }, (_, index) => address(3_000_000 + index));
  const asked = owners.map((owner) => ({ owner, mint: stablecoins.USDC }));
  expect(await ledger.tokenAccountStates(asked)).toEqual(owners.map(() => "absent"));
  expect(lists).toEqual([100, 100, 50]);
});
