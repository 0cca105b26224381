/** What a node may answer when it is asked for accounts, and what is no answer. */
import { afterEach, expect, test } from "vitest";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { solanaLedger } from "../../../src/solana/index.ts";
import type { Address } from "../../../src/core/address.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { result, scriptedNode, type Reply } from "../scripted-node.ts";

const SOMEBODY = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin" as Address;
const OWNER = "11111111111111111111111111111111";
const ACCOUNT = { executable: false, lamports: 5, owner: OWNER, rentEpoch: 0, data: ["", "base64"] };
const CONTEXT = { slot: 1_000 };

const ledgers: ReturnType<typeof solanaLedger>[] = [];
afterEach(() => Promise.all(ledgers.map((each) => each.close())));

async function kindsBy(reply: Reply): Promise<unknown> {
  const { fetch } = scriptedNode(reply);
  const endpoints = [{ url: "https://node.example", fetch }];
  const ledger = solanaLedger({ endpoints, clock: virtualClock(), logger: silentLogger });
  ledgers.push(ledger);
  return await ledger.accountKinds([SOMEBODY]);
}

test("an account, and no account", async () => {
  expect(await kindsBy(result({ context: CONTEXT, value: [ACCOUNT] }))).toMatchObject(["wallet"]);
  expect(await kindsBy(result({ context: CONTEXT, value: [null] }))).toMatchObject(["absent"]);
});

test.each<[string, unknown]>([
  ["nothing", null],
  ["a list", [ACCOUNT]],
  ["no context", { value: [ACCOUNT] }],
  ["no slot", { context: {}, value: [ACCOUNT] }],
  ["no accounts", { context: CONTEXT }],
  ["fewer accounts than were asked for", { context: CONTEXT, value: [] }],
  ["more accounts than were asked for", { context: CONTEXT, value: [ACCOUNT, ACCOUNT] }],
  ["an account that is a number", { context: CONTEXT, value: [1] }],
  ["an account without an owner", { context: CONTEXT, value: [{ ...ACCOUNT, owner: undefined }] }],
  ["an owner that is no address", { context: CONTEXT, value: [{ ...ACCOUNT, owner: "nobody" }] }],
  ["lamports in words", { context: CONTEXT, value: [{ ...ACCOUNT, lamports: "5" }] }],
  ["data in another encoding", { context: CONTEXT, value: [{ ...ACCOUNT, data: ["", "base58"] }] }],
  ["data without an encoding", { context: CONTEXT, value: [{ ...ACCOUNT, data: "" }] }],
])("is no answer: %s", async (_, value) => {
  await expect(kindsBy(result(value))).rejects.toBeInstanceOf(LedgerUnavailable);
});

test.each<[string, Reply]>([
  ["to another call", () => Response.json({ jsonrpc: "2.0", id: "another", result: null })],
  ["of another protocol", ({ id }) => Response.json({ id, result: { context: CONTEXT, value: [null] } })],
  ["without a result", ({ id }) => Response.json({ jsonrpc: "2.0", id })],
  ["that is a list", () => Response.json([])],
  ["that is no JSON", () => new Response("<html>")],
  ["that is empty", () => new Response("")],
])("an answer %s is none", async (_, reply) => {
  await expect(kindsBy(reply)).rejects.toBeInstanceOf(LedgerUnavailable);
});
