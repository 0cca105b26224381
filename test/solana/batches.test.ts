/** Batches over real sockets: what is asked at one moment goes in one request, and nodes that garble one are found out. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { nodeAsked, type NodeCalledEvent } from "../../src/core/diagnostics.ts";
import type { Address } from "../../src/core/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { silentLogger, type Logger } from "../../src/core/runtime.ts";
import { solanaLedger, type EndpointOptions } from "../../src/solana/index.ts";
import { chainFixture, type ChainFixture } from "../kit/chain-fixture.ts";
import type { VirtualClock } from "../kit/virtual-clock.ts";
import { elapsed, turns } from "./scripted-node.ts";

const TOKEN_ACCOUNT_BYTES = 165;

/** The calls in one request, as a node gets them. */
type Request = readonly { readonly id: string; readonly method: string }[];

/** An answer of a node. */
interface Sent {
  readonly status: number;
  readonly body: string;
}

type Answers = readonly { readonly id: string }[];
/** What a node makes of the honest answers to a batch; null: nothing ever comes. */
type Garble = (answers: Answers) => Sent | null;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const sent = (value: unknown, status = 200): Sent => ({ status, body: JSON.stringify(value) });
const refusal = { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "Invalid request" } };

interface Scene {
  readonly fixture: ChainFixture;
  readonly requests: Request[];
  readonly option: Exclude<EndpointOptions, string>;
}

/** The local chain behind a socket that garbles batches, and nothing else. */
async function scene(garble: Garble = (answers) => sent(answers)): Promise<Scene> {
  const fixture = await chainFixture();
  ends.push(() => fixture.close());
  const requests: Request[] = [];
  const reply = async (body: string): Promise<Sent | null> => {
    const parsed = JSON.parse(body) as Request | Request[number];
    requests.push([parsed].flat());
    const honest = await (await fixture.chain.fetch("http://local", { method: "POST", body })).text();
    if (!Array.isArray(parsed)) return { status: 200, body: honest };
    return garble(JSON.parse(honest) as Answers);
  };
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const answer = await reply(body);
      if (answer !== null) response.writeHead(answer.status).end(answer.body);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?api-key=k3y`;
  return { fixture, requests, option: { url, callsPerBatch: 20 } };
}

/** Four questions of one moment, each one call. */
const QUESTIONS = [
  "getSlot",
  "getMinimumBalanceForRentExemption",
  "getMultipleAccounts",
  "getEpochInfo",
] as const;
const ALICE = "Vote111111111111111111111111111111111111111" as Address;

/** What became of each of them. */
async function four(ledger: Ledger, clock: VirtualClock, stepMs = 1): Promise<readonly string[]> {
  const asked = Promise.allSettled([
    ledger.position(),
    ledger.rentMinimum(TOKEN_ACCOUNT_BYTES),
    ledger.accountKinds([ALICE]),
    ledger.heights("finalized"),
  ]);
  // Small steps: real sockets answer meanwhile.
  await elapsed(clock, asked, stepMs);
  return (await asked).map((each) => (each.status === "fulfilled" ? "answered" : String(each.reason)));
}

/** A ledger that knows its chain already, as a service's does. */
async function ledgerOf({ fixture, requests }: Scene, ...endpoints: EndpointOptions[]): Promise<Ledger> {
  const ledger = fixture.ledgerOf(endpoints);
  ends.push(() => ledger.close());
  await ledger.genesisHash();
  requests.splice(0);
  return ledger;
}

const ANSWERED = ["answered", "answered", "answered", "answered"];
const methodsOf = (request: Request | undefined): readonly string[] =>
  (request ?? []).map(({ method }) => method);

test("what is asked at one moment goes in one request, in whatever order its answers come", async () => {
  for (const garble of [undefined, (answers: Answers) => sent(answers.toReversed())]) {
    const world = await scene(garble);
    const { clock } = world.fixture;
    const ledger = await ledgerOf(world, world.option);
    expect(await four(ledger, clock)).toEqual(ANSWERED);
    expect(world.requests.map(methodsOf)).toEqual([QUESTIONS]);
    const rents = await Promise.all([ledger, world.fixture.ledger].map((each) => each.rentMinimum(80)));
    expect(rents[0]).toBe(rents[1]);
  }
});

test("without the option each call is a request of its own", async () => {
  const world = await scene();
  const ledger = await ledgerOf(world, world.option.url);
  expect(await four(ledger, world.fixture.clock)).toEqual(ANSWERED);
  expect(world.requests.map(methodsOf)).toEqual(QUESTIONS.map((method) => [method]));
});

describe("E10: a node that", () => {
  const without = (answers: Answers): Sent => sent(answers.slice(1));
  const twice = (answers: Answers): Sent => sent([...answers, ...answers.slice(0, 1)]);
  test.each<[string, Garble]>([
    ["leaves one answer of a batch out", without],
    ["gives one answer of a batch twice", twice],
  ])("%s is believed in the others, and asked again for that one", async (_, garble) => {
    const world = await scene(garble);
    const ledger = await ledgerOf(world, world.option);
    expect(await four(ledger, world.fixture.clock)).toEqual(ANSWERED);
    expect(world.requests.map(methodsOf)).toEqual([QUESTIONS, ["getSlot"]]);
  });

  test.each<[string, Garble, string, number]>([
    ["answers a batch with one error", () => sent(refusal), "JSON-RPC error -32600", 2],
    ["refuses a batch with HTTP 413", () => sent(refusal, 413), "HTTP 413", 1],
  ])(
    "%s has failed once a try, and is told by that error, and what to do (R38)",
    async (_, garble, message, tries) => {
      const world = await scene(garble);
      const { clock } = world.fixture;
      const failures: unknown[] = [];
      const logger: Logger = { ...silentLogger, debug: (facts) => void failures.push(facts) };
      const ledger = solanaLedger({ endpoints: [world.option], clock, logger });
      ends.push(() => ledger.close());
      await ledger.genesisHash();
      const outcomes = await four(ledger, clock);
      for (const outcome of outcomes) {
        expect(outcome).toContain(
          `127.0.0.1: ${message} to 4 calls in one request: if it answers single calls, leave its callsPerBatch out`,
        );
      }
      expect(failures).toHaveLength(tries);
    },
  );

  test("refuses batches is told of where an operator looks, though its chain is known and single calls are answered", async () => {
    const world = await scene(() => sent(refusal));
    const ledger = await ledgerOf(world, world.option);
    const [standing] = await ledger.endpoints();
    expect(standing).toMatchObject({ genesisHash: world.fixture.chain.genesisHash, slot: null });
    expect(standing?.trouble?.message).toContain("leave its callsPerBatch out");
    expect(await ledger.position()).toMatchObject({ endpoint: "127.0.0.1" });
  });

  test("never answers a batch is given up by all who wait, and the next endpoint is asked in a batch, too", async () => {
    let hangs = false;
    const hanging = await scene((answers) => (hangs ? null : sent(answers)));
    const { clock, chain } = hanging.fixture;
    const other = { url: "http://other.example", fetch: chain.fetch, callsPerBatch: 20 };
    const ledger = solanaLedger({ endpoints: [hanging.option, other], witnesses: 1, clock });
    ends.push(() => ledger.close());
    await ledger.genesisHash();
    hanging.requests.splice(0);
    hangs = true;
    const began = clock.now();
    expect(await four(ledger, clock, 50)).toEqual(ANSWERED);
    expect(clock.now() - began).toBeGreaterThanOrEqual(8_000);
    expect(hanging.requests.filter(({ length }) => length > 1)).toHaveLength(1);
    // What is asked alone is answered meanwhile.
    expect(await ledger.statuses(["1".repeat(64)])).toEqual([null]);
  });
});

test("a closed ledger ends a batch that is under way, and one that has not left", async () => {
  const world = await scene(() => null);
  const ledger = await ledgerOf(world, world.option);
  const first = [ledger.position(), ledger.heights("finalized")];
  while (world.requests.length === 0) await turns(1);
  const all = Promise.allSettled([...first, ledger.rentMinimum(80), ledger.accountKinds([ALICE])]);
  await turns(4);
  await ledger.close();
  await elapsed(world.fixture.clock, all, 1);
  for (const each of await all) expect(each).toMatchObject({ reason: { message: "the ledger is closed" } });
  expect(world.requests).toHaveLength(1);
});

describe("what is counted is calls, not requests:", () => {
  test("a batch waits until the endpoint's rate allows all of it", async () => {
    const world = await scene();
    const { clock } = world.fixture;
    const ledger = await ledgerOf(world, { ...world.option, requestsPerSecond: 4 });
    // What was asked for the chain is made up for.
    clock.advance(500);
    const asked = Promise.all(Array.from({ length: 8 }, (_, index) => ledger.rentMinimum(index)));
    while (world.requests.length === 0) await turns(1);
    clock.advance(900);
    await turns();
    expect(world.requests.map(({ length }) => length)).toEqual([4]);
    expect(await elapsed(clock, asked, 1)).toBeGreaterThanOrEqual(90);
    expect(world.requests.map(({ length }) => length)).toEqual([4, 4]);
  });

  test("the diagnostics channel tells each call of a batch with its own outcome", async () => {
    const heard: NodeCalledEvent[] = [];
    const listener = (message: unknown): void => void heard.push(message as NodeCalledEvent);
    subscribe(nodeAsked.name, listener);
    ends.push(async () => unsubscribe(nodeAsked.name, listener));
    const world = await scene();
    const ledger = await ledgerOf(world, world.option);
    world.fixture.chain.faults.add(({ method }) =>
      method === "getEpochInfo" ? { kind: "error", code: -32_602, message: "no" } : undefined,
    );
    heard.splice(0);
    await four(ledger, world.fixture.clock);
    const first = QUESTIONS.map((method) => [method, method === "getEpochInfo" ? "rpc" : "answered"]);
    const odd = ["getEpochInfo", "rpc"];
    expect(heard.map(({ method, outcome }) => [method, outcome])).toEqual([...first, odd]);
    expect(new Set(heard.map(({ endpoint }) => endpoint))).toEqual(new Set(["127.0.0.1"]));
  });

  test("a rate limit told of one call of a batch is a rest of the endpoint", async () => {
    const world = await scene();
    const { chain, clock } = world.fixture;
    const ledger = await ledgerOf(world, world.option);
    const lift = chain.faults.add(({ method }) =>
      method === "getEpochInfo" ? { kind: "error", code: 429, message: "slow down" } : undefined,
    );
    const asked = four(ledger, clock);
    while (world.requests.length === 0) await turns(1);
    lift();
    const began = clock.now();
    expect(await asked).toEqual(ANSWERED);
    expect(clock.now() - began).toBeGreaterThanOrEqual(900);
    expect(world.requests.map(methodsOf)).toEqual([QUESTIONS, ["getEpochInfo"]]);
  });
});
