/** What an operator is told when nothing is known: which endpoint failed how, and nothing that is secret. */
import { expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { LedgerUnavailable, type EndpointTrouble } from "../../src/ledger/ledger.ts";
import { solanaLedger, type EndpointOptions } from "../../src/solana/index.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import {
  brokenConnection,
  elapsed,
  httpError,
  result,
  rpcError,
  scriptedNode,
  silence,
  type Reply,
} from "./scripted-node.ts";

const OWNER = "Vote111111111111111111111111111111111111111" as Address;
const HERE = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const ELSEWHERE = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
const absent = result({ context: { slot: 7 }, value: [null] });

/** Endpoints at `name.example`, each with a key in its URL. */
function endpoints(scripts: Readonly<Record<string, readonly Reply[]>>): EndpointOptions[] {
  return Object.entries(scripts).map(([name, script]) => ({
    url: `https://${name}.example/v1/k3y?api-key=k3y`,
    fetch: scriptedNode(...script).fetch,
  }));
}

async function failure(clock: VirtualClock, asked: Promise<unknown>): Promise<LedgerUnavailable> {
  const error = asked.then(
    () => null,
    (reason: unknown) => reason,
  );
  await elapsed(clock, error);
  const unavailable = await error;
  if (!(unavailable instanceof LedgerUnavailable)) throw new Error(`it ended with ${String(unavailable)}`);
  const everything = `${String(unavailable)} ${unavailable.stack ?? ""} ${JSON.stringify(unavailable)}`;
  expect(everything).not.toContain("k3y");
  expect(unavailable.cause).toBeUndefined();
  return unavailable;
}

const everyTrouble: readonly (readonly [string, Reply, EndpointTrouble["kind"], number | null])[] = [
  ["broken", brokenConnection, "unreachable", null],
  ["silent", silence, "timeout", null],
  ["down", httpError(503), "http", 503],
  ["moved", httpError(307, { location: "https://moved.example/k3y" }), "http", 307],
  ["forbidden", httpError(403), "http", 403],
  ["ill", rpcError(-32005), "rpc", -32005],
  ["refusing", rpcError(-32602), "rpc", -32602],
  ["garbled", () => new Response("<html>k3y"), "garbled", null],
  ["garbled-error", () => new Response('{"error": k3y'), "garbled", null],
  ["busy", httpError(429, { "retry-after": "60" }), "http", 429],
];

test("each endpoint's last failure is named by endpoint, kind and code, in the order configured", async () => {
  const clock = virtualClock();
  const scripts = Object.fromEntries(everyTrouble.map(([name, reply]) => [name, [reply]]));
  const ledger = solanaLedger({ endpoints: endpoints(scripts), clock });
  const { troubles, message } = await failure(clock, ledger.mints([OWNER]));
  expect(troubles).toMatchObject(
    everyTrouble.map(([name, , kind, code]) => ({ endpoint: `${name}.example`, kind, code })),
  );
  for (const trouble of troubles) expect(message).toContain(`${trouble.endpoint}: ${trouble.message}`);
});

test("the troubles of all endpoints are told of broadcasts and of questions with a second opinion, too", async () => {
  const clock = virtualClock();
  const ledger = solanaLedger({
    endpoints: endpoints({ one: [httpError(403)], two: [rpcError(-32602)] }),
    clock,
  });
  const expected = [
    { endpoint: "one.example", kind: "http", code: 403 },
    { endpoint: "two.example", kind: "rpc", code: -32602 },
  ];
  const { troubles } = await failure(clock, ledger.broadcast(new Uint8Array(4)));
  expect(troubles).toMatchObject(expected);
});

test("an endpoint that wants to be left alone, and one that our own calls fill, are told apart", async () => {
  const clock = virtualClock();
  const [resting] = endpoints({ resting: [httpError(429, { "retry-after": "60" })] });
  const [slow] = endpoints({ slow: [absent] });
  if (typeof resting !== "object" || typeof slow !== "object") throw new Error("two endpoints");
  const ledger = solanaLedger({ endpoints: [resting], clock });
  await failure(clock, ledger.mints([OWNER]));
  const again = await failure(clock, ledger.mints([OWNER]));
  expect(again.troubles).toEqual([
    { endpoint: "resting.example", kind: "resting", code: null, message: "asked to be left alone" },
  ]);
  const paced = solanaLedger({ endpoints: [{ ...slow, requestsPerSecond: 0.1 }], clock });
  const asked = ["1", "2"].map((signature) => paced.statuses([signature]));
  const refused = await failure(clock, asked[1] ?? Promise.resolve());
  expect(refused.troubles).toMatchObject([{ endpoint: "slow.example", kind: "busy" }]);
  expect(await asked[0]).toEqual([null]);
});

test("endpoints at one host are told apart by their number", async () => {
  const clock = virtualClock();
  const ledger = solanaLedger({
    endpoints: ["k3y-one", "k3y-two", "k3y-three"].map((key) => ({
      url: `https://provider.example/${key}`,
      fetch: scriptedNode(httpError(403)).fetch,
    })),
    clock,
  });
  const { troubles } = await failure(clock, ledger.genesisHash());
  expect(troubles.map(({ endpoint }) => endpoint)).toEqual([
    "provider.example",
    "provider.example#2",
    "provider.example#3",
  ]);
});

test("E14: endpoints of different chains are refused, and it is told who serves which", async () => {
  const clock = virtualClock();
  const ledger = solanaLedger({
    endpoints: endpoints({ here: [result(HERE)], elsewhere: [result(ELSEWHERE)], gone: [httpError(403)] }),
    clock,
  });
  const { message } = await failure(clock, ledger.genesisHash());
  expect(message).toContain(`here.example: ${HERE}; elsewhere.example: ${ELSEWHERE}; gone.example: silent`);
});

test("E14: an endpoint that was silent at the start is not believed before it has told the same chain", async () => {
  const whoJoinedLate = async (chain: string): Promise<{ clock: VirtualClock; asked: Promise<unknown> }> => {
    const clock = virtualClock();
    const first = [result(HERE), httpError(403)];
    const late = [httpError(403), result(chain), chain === HERE ? absent : result(chain)];
    const ledger = solanaLedger({ endpoints: endpoints({ first, late }), clock });
    expect(await ledger.genesisHash()).toBe(HERE);
    return { clock, asked: ledger.mints([OWNER]) };
  };
  const friend = await whoJoinedLate(HERE);
  expect(await friend.asked).toEqual([null]);
  const stranger = await whoJoinedLate(ELSEWHERE);
  const { troubles } = await failure(stranger.clock, stranger.asked);
  expect(troubles[1]).toMatchObject({ endpoint: "late.example", kind: "other_chain" });
});

test("a closed ledger blames no endpoint", async () => {
  const ledger = solanaLedger({ endpoints: endpoints({ one: [absent] }) });
  await ledger.close();
  const error: unknown = await ledger.mints([OWNER]).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: "LedgerUnavailable", message: "the ledger is closed", troubles: [] });
});
