/** Websockets that fail: refused, dead, cut, late, untrue. */
import type { IncomingMessage } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { DEAD_WEBSOCKETS, type Fault } from "paystate/local";
import { virtualClock } from "../kit/virtual-clock.ts";
import { SOL, somebody, stillChain } from "./kit.ts";
import { connectOverPort, listening, rawSocket } from "./sockets.ts";

test("a refused websocket is answered with an HTTP status, while HTTP calls go on", async () => {
  const chain = await stillChain();
  const { url, webSocketUrl } = await listening(chain);
  chain.faults.add(({ transport, method }) =>
    transport === "websocket" && method === "connect"
      ? { kind: "refuse", status: 503, headers: { "retry-after": "9" } }
      : undefined,
  );
  const socket = new WebSocket(webSocketUrl);
  const response = await new Promise<IncomingMessage>((resolve) => {
    socket.once("unexpected-response", (_request, answer) => resolve(answer));
  });
  expect(response).toMatchObject({ statusCode: 503, headers: { "retry-after": "9" } });
  expect(await (await fetch(`${url}/health`)).text()).toBe("ok");
});

test("a rule that throws is a node that fails, not the end of the process", async () => {
  const chain = await stillChain();
  const { webSocketUrl } = await listening(chain);
  const raw = await rawSocket(webSocketUrl);
  await raw.call("slotSubscribe");
  chain.faults.add(({ transport, method }) => {
    if (transport === "websocket") throw new Error(`no rule for ${method}`);
    return undefined;
  });
  expect((await raw.call("rootSubscribe")).error).toMatchObject({ code: -32603 });
  await expect(rawSocket(webSocketUrl)).rejects.toThrow("500");
  chain.advance(1);
  expect(await raw.closed).toBe(1006);
});

test("a dead websocket opens, stays open and says nothing: no answer, no news, no pong", async () => {
  const chain = await stillChain();
  const { url, webSocketUrl } = await listening(chain);
  const raw = await rawSocket(webSocketUrl);
  await raw.call("slotSubscribe");
  const lift = chain.faults.add(DEAD_WEBSOCKETS);
  let heard = 0;
  raw.socket.on("message", () => (heard += 1));
  raw.socket.on("pong", () => (heard += 1));
  raw.socket.ping();
  raw.send({ jsonrpc: "2.0", id: 7, method: "rootSubscribe" });
  chain.advance(3);
  const late = await rawSocket(webSocketUrl);
  late.socket.ping();
  // Whatever was to come over the sockets would have come before the answer to a call that began later.
  for (let asked = 0; asked < 3; asked += 1) await (await fetch(`${url}/health`)).text();
  expect(heard).toBe(0);
  expect(raw.socket.readyState).toBe(WebSocket.OPEN);
  lift();
  chain.advance(1);
  expect(await raw.next()).toMatchObject({ params: { result: { slot: chain.slot() } } });
  const pong = new Promise((resolve) => void late.socket.once("pong", resolve));
  late.socket.ping();
  await pong;
});

test("with a dead websocket confirmTransaction does not end while the transaction is long final", async () => {
  const chain = await stillChain();
  const connection = await connectOverPort(chain);
  chain.faults.add(DEAD_WEBSOCKETS);
  const latest = await connection.getLatestBlockhash("processed");
  const signature = chain.fund(somebody().toBase58(), { lamports: SOL });
  let ended = false;
  const given = new AbortController();
  const confirmation = connection
    .confirmTransaction({ signature, ...latest, abortSignal: given.signal })
    .finally(() => (ended = true));
  chain.advance(40);
  const status = await connection.getSignatureStatus(signature);
  expect(status.value?.confirmationStatus).toBe("finalized");
  await turn();
  expect(ended).toBe(false);
  given.abort(new Error("enough"));
  await expect(confirmation).rejects.toThrow("enough");
});

test("a call can be refused, a subscription made and its answer lost: both end the connection", async () => {
  const chain = await stillChain();
  const { webSocketUrl } = await listening(chain);
  for (const kind of ["refuse", "lose-answer"] as const) {
    const raw = await rawSocket(webSocketUrl);
    const lift = chain.faults.add(({ method }) =>
      method === "slotSubscribe" ? { kind, status: 502 } : undefined,
    );
    raw.send({ jsonrpc: "2.0", id: 1, method: "slotSubscribe" });
    expect(await raw.closed, kind).toBe(1006);
    lift();
  }
  chain.advance(1);
});

test("notifications are lost, late or untrue, or end the connection", async () => {
  const clock = virtualClock();
  const chain = await stillChain({ clock });
  const { webSocketUrl } = await listening(chain);
  const raw = await rawSocket(webSocketUrl);
  await raw.call("rootSubscribe");
  const during = async (fault: Fault): Promise<void> => {
    const lift = chain.faults.add(({ method }) => (method === "rootNotification" ? fault : undefined));
    chain.advance(1);
    await turn();
    lift();
  };
  const root = (): number => chain.slot() - 32;
  await during({ kind: "drop" });
  await during({ kind: "lie", answer: (honest) => Number(honest) + 1_000_000 });
  expect((await raw.next()).params?.result).toBe(root() + 1_000_000);
  await during({ kind: "delay", ms: 2000 });
  const delayed = root();
  await during({ kind: "lag", slots: 3 });
  expect((await raw.next()).params?.result).toBe(root());
  clock.advance(2000);
  expect((await raw.next()).params?.result).toBe(delayed);
  await during({ kind: "refuse", status: 500 });
  expect(await raw.closed).toBe(1006);
});

test("a call to a lagging node, a lying one and one that answers errors, over a websocket", async () => {
  const chain = await stillChain();
  const raw = await rawSocket((await listening(chain)).webSocketUrl);
  chain.faults.add(({ method }) =>
    method === "rootSubscribe" ? { kind: "error", code: -32005, message: "Node is unhealthy" } : undefined,
  );
  chain.faults.add(({ method }) =>
    method === "slotSubscribe" ? { kind: "lie", answer: () => 4242 } : undefined,
  );
  expect((await raw.call("rootSubscribe")).error).toEqual({ code: -32005, message: "Node is unhealthy" });
  expect((await raw.call("slotSubscribe")).result).toBe(4242);
});
