/** What an endpoint is asked for: its roles, its limits by kind of call, its deadline and its headers. */
import { expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { LedgerUnavailable, type Ledger } from "../../src/ledger/ledger.ts";
import { silentLogger, type Logger } from "../../src/core/runtime.ts";
import { solanaLedger, type EndpointOptions, type EndpointSettings } from "../../src/solana/index.ts";
import { NodeProxy } from "../kit/node-proxy.ts";
import { sendLimit } from "../kit/odd-endpoints.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import {
  elapsed,
  httpError,
  result,
  rpcError,
  scriptedNode,
  silence,
  turns,
  type Reply,
  type ScriptedNode,
} from "./scripted-node.ts";

const OWNER = "Vote111111111111111111111111111111111111111" as Address;
const BYTES = new Uint8Array(4);
const absent = result({ context: { slot: 7 }, value: [null] });
const SIGNATURE = "1".repeat(64);

/** Answers by the method, and any other method with nothing at an address. */
const byMethod =
  (replies: Readonly<Record<string, Reply>>): Reply =>
  (call) =>
    (replies[call.method] ?? absent)(call);

const well = byMethod({
  sendTransaction: result(SIGNATURE),
  getGenesisHash: result("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"),
  getSlot: result(100),
  getBlockTime: result(null),
});

function endpoint(
  name: string,
  node: Pick<ScriptedNode, "fetch">,
  settings: Partial<EndpointSettings> = {},
): EndpointSettings {
  return { url: `http://${name}.example`, fetch: node.fetch, ...settings };
}

const problemsOf = (endpoints: readonly EndpointOptions[], witnesses?: number): string => {
  try {
    solanaLedger({ endpoints, ...(witnesses === undefined ? {} : { witnesses }) });
    return "none";
  } catch (error) {
    return String(error);
  }
};

test("a start without a reader, a witness or a sender is refused, all of it at once and by its field", () => {
  const url = "http://node.example";
  const relay = problemsOf([{ url, roles: ["send"] }]);
  expect(relay).toContain("- endpoints: expected one with the role `read` in its roles");
  expect(relay).toContain("- endpoints: expected one with the role `witness` in its roles");
  expect(problemsOf([{ url, roles: ["read", "witness"] }])).toContain("with the role `send`");
  expect(problemsOf([{ url, roles: [] }])).toContain("- endpoints.0.roles: expected at least one role");
  const wrong = problemsOf([
    { url, timeoutMs: 10, sendsPerSecond: 0, headers: { "a b": "k3y" } },
    { url: `${url}/2`, roles: ["reads" as never] },
  ]);
  for (const path of ["0.timeoutMs", "0.sendsPerSecond", "0.headers", "1.roles.0"]) {
    expect(wrong).toContain(`- endpoints.${path}: `);
  }
  expect(wrong).not.toContain("k3y");
  const readers: EndpointOptions[] = [url, { url: `${url}/2`, roles: ["read"] }];
  expect(problemsOf(readers, 2)).toContain(
    "- witnesses: expected at most the number of endpoints with the role",
  );
  expect(problemsOf(readers)).toBe("none");
});

test("N5: a relay that only sends gets broadcasts and is asked nothing else, and is no witness", async () => {
  const clock = virtualClock();
  const node = scriptedNode(well);
  const relay = scriptedNode(byMethod({ sendTransaction: result(SIGNATURE) }));
  const refusing: ScriptedNode = { ...relay, look: rpcError(-32601) };
  const ledger = solanaLedger({
    endpoints: [endpoint("relay", refusing, { roles: ["send"] }), endpoint("node", node)],
    clock,
  });
  await ledger.genesisHash();
  expect(await ledger.mints([OWNER])).toEqual([null]);
  await ledger.broadcast(BYTES);
  await turns();
  expect(relay.calls).toEqual(["sendTransaction"]);
  expect(node.calls).toContain("sendTransaction");
  expect(await ledger.witnesses()).toEqual({ needed: 1, answering: 1 });
  expect(await ledger.endpoints()).toMatchObject([
    { endpoint: "relay.example", roles: ["send"], slot: null, trouble: null },
    { endpoint: "node.example", slot: 100 },
  ]);
  expect(relay.calls).toEqual(["sendTransaction"]);
  await ledger.close();
});

test("an endpoint is asked by its roles: hints of readers, evidence of witnesses, broadcasts to senders", async () => {
  const clock = virtualClock();
  const [reader, witness, sender] = [scriptedNode(well), scriptedNode(well), scriptedNode(well)];
  const ledger = solanaLedger({
    endpoints: [
      endpoint("reader", reader, { roles: ["read"] }),
      endpoint("witness", witness, { roles: ["witness"] }),
      endpoint("sender", sender, { roles: ["send"] }),
    ],
    clock,
  });
  await ledger.mints([OWNER]);
  expect([reader.calls, witness.calls]).toEqual([["getMultipleAccounts"], []]);
  await ledger.accountKinds([OWNER]);
  expect([reader.calls, witness.calls]).toEqual([["getMultipleAccounts"], ["getMultipleAccounts"]]);
  await ledger.broadcast(BYTES);
  expect(sender.calls).toEqual(["sendTransaction"]);
  expect(reader.calls.concat(witness.calls)).not.toContain("sendTransaction");
  await expect(ledger.restricted({ witnesses: null, without: ["sender.example"] })).rejects.toThrow(
    "role send",
  );
  await ledger.close();
});

test("N4: 429 on sends only rests sends: reads go on, and it is no illness", async () => {
  const clock = virtualClock();
  const warned: string[] = [];
  const node = scriptedNode(byMethod({ sendTransaction: httpError(429, { "retry-after": "30" }) }));
  const ledger = solanaLedger({ endpoints: [endpoint("node", node)], clock, logger: warningsIn(warned) });
  for (let count = 0; count < 5; count += 1) {
    await expect(ledger.broadcast(BYTES)).rejects.toBeInstanceOf(LedgerUnavailable);
    // A virtual clock that nobody turns: any pause would hang.
    expect(await ledger.mints([OWNER])).toEqual([null]);
  }
  expect(node.calls.filter((method) => method === "sendTransaction")).toHaveLength(1);
  expect(warned).toEqual([]);
  expect(await ledger.rateLimited()).toEqual([]);
  await ledger.close();
});

test("N4: 429 on reads does not hold broadcasts back", async () => {
  const node = scriptedNode((call) =>
    (call.method === "sendTransaction" ? result(SIGNATURE) : httpError(429, { "retry-after": "30" }))(call),
  );
  const ledger = solanaLedger({ endpoints: [endpoint("node", node)], clock: virtualClock() });
  await expect(ledger.mints([OWNER])).rejects.toBeInstanceOf(LedgerUnavailable);
  await ledger.broadcast(BYTES);
  await ledger.close();
});

function warningsIn(warned: string[]): Logger {
  return { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) };
}

/** Sends until it is taken, as the service does. */
async function sendUntilTaken(ledger: Ledger, clock: VirtualClock, index: number): Promise<void> {
  for (;;) {
    try {
      await ledger.broadcast(Uint8Array.of(index));
      return;
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      await clock.sleep(1_000 + index * 7);
    }
  }
}

test.each([{ sendsPerSecond: 5 }, {}])(
  "N4: 200 sends at 5 sends/s finish without a word about illness, with the settings %j",
  async (settings) => {
    const clock = virtualClock();
    const warned: string[] = [];
    const limit = sendLimit(clock, 5);
    const node = new NodeProxy(() => scriptedNode(well).fetch, limit);
    const ledger = solanaLedger({
      endpoints: [endpoint("node", node, settings)],
      clock,
      logger: warningsIn(warned),
    });
    await ledger.position();
    const sent = Promise.all(Array.from({ length: 200 }, (_, index) => sendUntilTaken(ledger, clock, index)));
    const reads = Promise.all(Array.from({ length: 20 }, () => ledger.position()));
    expect(await elapsed(clock, reads)).toBeLessThan(1_000);
    const ms = await elapsed(clock, sent);
    expect(limit.taken).toHaveLength(200);
    expect(ms).toBeLessThan(180_000);
    expect(warned).toEqual([]);
    await ledger.close();
  },
);

test("N18: a provider that answers 429 to every read for a day is told after five minutes, until it answers", async () => {
  const clock = virtualClock();
  const warned: string[] = [];
  let isLimited = true;
  const node = scriptedNode((call) => (isLimited ? httpError(429) : absent)(call));
  node.look = () => new Response("", { status: 429 });
  const other = scriptedNode(absent);
  const ledger = solanaLedger({
    endpoints: [endpoint("limited", node), endpoint("well", other)],
    witnesses: 1,
    clock,
    logger: warningsIn(warned),
  });
  const began = clock.now();
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      expect(await ledger.mints([OWNER])).toEqual([null]);
      await turns();
      clock.advance(60_000);
    }
  };
  await pass(5);
  expect(await ledger.rateLimited()).toEqual([]);
  await pass(2);
  expect(await ledger.rateLimited()).toEqual([{ endpoint: "limited.example", since: began }]);
  await pass(24 * 60);
  expect(await ledger.rateLimited()).toHaveLength(1);
  expect(warned).toEqual([]);
  isLimited = false;
  await pass(1);
  expect(await ledger.rateLimited()).toEqual([]);
  await ledger.close();
});

test("an endpoint has its own deadline and headers, and no header of it is told", async () => {
  const clock = virtualClock();
  const slow = scriptedNode(silence);
  const heard: Headers[] = [];
  const node = scriptedNode(absent);
  const listening: Pick<ScriptedNode, "fetch"> = {
    fetch: async (url, init) => {
      heard.push(new Headers(init?.headers));
      return await node.fetch(url, init);
    },
  };
  const ledger = solanaLedger({
    endpoints: [
      endpoint("slow", slow, { timeoutMs: 1_000 }),
      endpoint("node", listening, { headers: { Authorization: "Bearer k3y", "Content-Type": "text/plain" } }),
    ],
    clock,
  });
  const asked = ledger.mints([OWNER]);
  expect(await elapsed(clock, asked)).toBe(1_000);
  expect(await asked).toEqual([null]);
  expect(heard[0]?.get("authorization")).toBe("Bearer k3y");
  expect(heard[0]?.get("content-type")).toBe("application/json");
  await ledger.close();
});

test("N2: a send has a place within the limit of its endpoint, half of them are left to first sends, and none is there while it rests", async () => {
  const clock = virtualClock();
  const answers = { sends: well };
  const node = scriptedNode((call) => (call.method === "sendTransaction" ? answers.sends(call) : well(call)));
  const ledger = solanaLedger({
    endpoints: [endpoint("limited", node, { sendsPerSecond: 4 })],
    clock,
    logger: silentLogger,
  });
  const taken = async (kind: "first" | "again"): Promise<number> => {
    let count = 0;
    while (await ledger.takeSendPlace(kind)) count += 1;
    return count;
  };
  expect([await taken("again"), await taken("first"), await taken("first")]).toEqual([2, 2, 0]);
  clock.advance(500);
  expect([await taken("again"), await taken("first")]).toEqual([0, 2]);
  clock.advance(1_000);
  answers.sends = httpError(429, { "retry-after": "30" });
  void ledger.broadcast(BYTES).catch(() => {});
  await turns();
  expect(await taken("first")).toBe(0);
  clock.advance(31_000);
  expect(await taken("first")).toBe(4);
  await ledger.close();
});

test("without a limit there is always a place for a send", async () => {
  const node = scriptedNode(well);
  const ledger = solanaLedger({ endpoints: [endpoint("free", node)], clock: virtualClock() });
  for (let sends = 0; sends < 1_000; sends += 1) expect(await ledger.takeSendPlace("again")).toBe(true);
  await ledger.close();
});
