/** Websockets of the local chain: an unmodified web3.js Connection, told the HTTP port alone, confirms by them. */
import type { IncomingMessage } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { TransactionExpiredBlockheightExceededError, type VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createLocalChain, type LocalChain } from "paystate/local";
import { virtualClock } from "../kit/virtual-clock.ts";
import { keyOf, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";
import { connectOverPort, listening, type RawSocket, rawSocket, taken } from "./sockets.ts";

/** The id that a signed transaction will have on the chain. */
const idOf = ({ signatures: [first] }: VersionedTransaction): string =>
  bs58.encode(first ?? new Uint8Array());

/** What confirmTransaction asks once it has subscribed; it does not catch the failure of a call it no longer needs. */
const STATUS = /^getSignatureStatuses$/;

async function rawSocketOf(chain: LocalChain): Promise<RawSocket> {
  return rawSocket((await listening(chain)).webSocketUrl);
}

/** A transfer of `amount` by someone with ten SOL, signed and not sent. */
async function signedTransfer(chain: LocalChain, amount: bigint) {
  const connection = await connectOverPort(chain);
  const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
  chain.advance(1);
  const latest = await connection.getLatestBlockhash();
  const transaction = signed(latest.blockhash, [transfer(alice, somebody(), amount)], [alice]);
  return { connection, latest, transaction, signature: idOf(transaction) };
}

test.each([
  ["lands", 1n, null],
  ["lands and fails", 50n, { InstructionError: [0, { Custom: 1 }] }],
])("confirmTransaction resolves once a transaction that %s reaches its commitment", async (_, sol, err) => {
  const chain = await stillChain();
  const { connection, latest, transaction, signature } = await signedTransfer(chain, sol * SOL);
  const asked = taken(chain, 1, STATUS);
  const confirmation = connection.confirmTransaction({ signature, ...latest }, "finalized");
  await asked;
  await connection.sendTransaction(transaction, { skipPreflight: true });
  chain.advance(31);
  expect((await connection.getSignatureStatus(signature)).value?.confirmationStatus).toBe("confirmed");
  chain.advance(1);
  expect((await confirmation).value).toEqual({ err });
});

test("confirmTransaction of something that was never sent ends with its blockhash", async () => {
  const chain = await stillChain();
  const { connection, latest, signature } = await signedTransfer(chain, 1n);
  const asked = taken(chain, 1, STATUS);
  const confirmation = connection.confirmTransaction({ signature, ...latest });
  await asked;
  chain.advance(300);
  // web3.js looks at the block height once a second.
  await expect(confirmation).rejects.toThrow(TransactionExpiredBlockheightExceededError);
});

test("a signature is told once, also one that landed before, and its subscription is over", async () => {
  const chain = await stillChain();
  const raw = await rawSocketOf(chain);
  const signature = chain.fund(somebody().toBase58(), { lamports: SOL });
  const slot = chain.slot();
  const { result: subscription } = await raw.call("signatureSubscribe", signature, {
    commitment: "processed",
  });
  const result = { context: { slot }, value: { err: null } };
  expect((await raw.next()).params).toEqual({ subscription, result });
  expect((await raw.call("signatureUnsubscribe", subscription)).error?.code).toBe(-32602);
});

test("a signature whose fork was abandoned is told when it lands again", async () => {
  const chain = await stillChain();
  const { connection, transaction, signature } = await signedTransfer(chain, SOL);
  const raw = await rawSocketOf(chain);
  await raw.call("signatureSubscribe", signature, { commitment: "confirmed" });
  const fork = chain.slot();
  chain.advance(1);
  await connection.sendTransaction(transaction, { skipPreflight: true });
  await turn();
  chain.rollback(fork);
  chain.advance(3);
  const landed = chain.slot();
  await connection.sendTransaction(transaction, { skipPreflight: true });
  chain.advance(1);
  const result = { context: { slot: landed }, value: { err: null } };
  expect((await raw.next()).params?.result).toEqual(result);
});

test("slots are told one by one, and a far jump by its end", async () => {
  const chain = await stillChain();
  const raw = await rawSocketOf(chain);
  await raw.call("slotSubscribe");
  const first = chain.slot();
  chain.advance(2);
  const told = async (): Promise<unknown> => (await raw.next()).params?.result;
  expect(await told()).toEqual({ parent: first, root: first - 31, slot: first + 1 });
  expect(await told()).toEqual({ parent: first + 1, root: first - 30, slot: first + 2 });
  chain.advance(100_000);
  expect(await told()).toMatchObject({ slot: first + 100_002 - 511 });
});

test("if slots follow the clock, it alone brings them to subscribers", async () => {
  const clock = virtualClock();
  const chain = await createLocalChain({ clock, slotMs: 400 });
  onTestFinished(() => chain.close());
  const raw = await rawSocketOf(chain);
  await raw.call("slotSubscribe");
  const first = chain.slot();
  clock.advance(400);
  expect((await raw.next()).params?.result).toMatchObject({ slot: first + 1 });
});

test("a subscription on a chain whose clock cannot sleep is refused with the reason", async () => {
  const raw = await rawSocketOf(await stillChain({ slotMs: 400 }));
  expect((await raw.call("slotSubscribe")).error?.message).toContain("need a clock with `sleep`");
});

test("both ports take websockets: the next one, where web3.js looks, and the one that is told", async () => {
  const { url, webSocketUrl } = await listening(await stillChain());
  expect(Number(new URL(webSocketUrl).port)).toBe(Number(new URL(url).port) + 1);
  for (const address of [webSocketUrl, url.replace("http", "ws")]) {
    expect((await (await rawSocket(address)).call("slotSubscribe")).error, address).toBeUndefined();
  }
});

test("a port whose next one is in use is refused, and is free again afterwards", async () => {
  const chain = await stillChain();
  const { webSocketUrl, close } = await listening(chain);
  const next = Number(new URL(webSocketUrl).port);
  const other = await stillChain();
  const there = { host: "127.0.0.1", port: next - 1 };
  await expect(other.listen({ ...there, port: next })).rejects.toThrow(
    `port ${next} of 127.0.0.1 is in use:`,
  );
  await close();
  const blocker = await other.listen({ ...there, port: next });
  await expect(chain.listen(there)).rejects.toThrow(
    `port ${next} of 127.0.0.1 is in use, where clients look for the websocket of port ${next - 1}: stop what listens there`,
  );
  await blocker.close();
  expect((await chain.listen(there)).url).toContain(`:${next - 1}`);
});

test("the first subscription is number 0, belongs to its socket, and is ended once", async () => {
  const { webSocketUrl } = await listening(await stillChain());
  const [one, two] = [await rawSocket(webSocketUrl), await rawSocket(webSocketUrl)];
  expect(await one.call("slotSubscribe")).toEqual({ jsonrpc: "2.0", result: 0, id: 1 });
  expect((await two.call("slotSubscribe")).result).toBe(1);
  const unknown = { code: -32602, message: "Invalid subscription id." };
  expect((await two.call("slotUnsubscribe", 0)).error).toEqual(unknown);
  expect((await one.call("slotUnsubscribe", 0)).result).toBe(true);
  expect((await one.call("slotUnsubscribe", 0)).error).toEqual(unknown);
});

test("a wrong message is answered with agave's codes, and one without an id is carried out without an answer", async () => {
  const raw = await rawSocketOf(await stillChain());
  const code = async (method: string, ...params: unknown[]): Promise<number | undefined> =>
    (await raw.call(method, ...params)).error?.code;
  expect(await code("accountSubscribe", somebody().toBase58())).toBe(-32601);
  expect(await code("getSlot")).toBe(-32601);
  expect(await code("signatureSubscribe", somebody().toBase58())).toBe(-32602);
  expect(await code("slotUnsubscribe", "0")).toBe(-32602);
  raw.socket.send("{");
  expect((await raw.next()).error?.code).toBe(-32700);
  raw.send({ jsonrpc: "2.0", method: "ping" });
  raw.send([{ jsonrpc: "2.0", method: "slotSubscribe" }]);
  expect((await raw.call("slotSubscribe")).result).toBe(1);
});

test("a socket holds at most 1000 subscriptions and takes no large or binary messages", async () => {
  const { webSocketUrl } = await listening(await stillChain());
  const raw = await rawSocket(webSocketUrl);
  for (let made = 0; made < 1000; made += 1) await raw.call("slotSubscribe");
  expect((await raw.call("slotSubscribe")).error).toEqual({
    code: -32603,
    message: "Internal Error: Subscription refused. Node subscription limit reached",
  });
  await raw.call("slotUnsubscribe", 0);
  expect((await raw.call("slotSubscribe")).error).toBeUndefined();
  raw.socket.send("x".repeat(60_000));
  expect(await raw.closed).toBe(1009);
  const binary = await rawSocket(webSocketUrl);
  binary.socket.send(Buffer.from("{}"));
  expect(await binary.closed).toBe(1003);
});

test("a reader who does not read is cut off, and the others are served on", async () => {
  const chain = await stillChain();
  const { webSocketUrl } = await listening(chain);
  const [lazy, keen] = [await rawSocket(webSocketUrl), await rawSocket(webSocketUrl)];
  for (let made = 0; made < 300; made += 1) await lazy.call("slotSubscribe");
  await keen.call("slotSubscribe");
  const heard = keen.next();
  lazy.socket.pause();
  // 512 slots, told 300 times, are 18 MB: more than the sockets of the system hold.
  chain.advance(512);
  expect((await heard).method).toBe("slotNotification");
  lazy.socket.resume();
  expect(await lazy.closed).toBe(1006);
});

test("closing the chain closes its sockets", async () => {
  const chain = await stillChain();
  const raw = await rawSocketOf(chain);
  await raw.call("slotSubscribe");
  await chain.close();
  expect([1001, 1006]).toContain(await raw.closed);
});

test("a refused websocket is answered with an HTTP status, while HTTP calls go on", async () => {
  const chain = await stillChain();
  const { url, webSocketUrl } = await listening(chain);
  const headers = { "retry-after": "9" };
  chain.faults.add(({ method }) =>
    method === "connect" ? { kind: "refuse", status: 503, headers } : undefined,
  );
  const socket = new WebSocket(webSocketUrl);
  const response = await new Promise<IncomingMessage>((resolve) => {
    socket.once("unexpected-response", (_request, answer) => resolve(answer));
  });
  expect(response).toMatchObject({ statusCode: 503, headers });
  expect(await (await fetch(`${url}/health`)).text()).toBe("ok");
});

test("a call that is refused, or whose answer is lost, ends the connection; an error or a lie is its answer", async () => {
  const chain = await stillChain();
  const { webSocketUrl } = await listening(chain);
  const faulty = (fault: Parameters<typeof chain.faults.add>[0]): (() => void) =>
    chain.faults.add((request) => (request.method === "slotSubscribe" ? fault(request) : undefined));
  for (const kind of ["refuse", "lose-answer"] as const) {
    const raw = await rawSocket(webSocketUrl);
    const lift = faulty(() => ({ kind, status: 502 }));
    raw.send({ jsonrpc: "2.0", id: 1, method: "slotSubscribe" });
    expect(await raw.closed, kind).toBe(1006);
    lift();
  }
  const raw = await rawSocket(webSocketUrl);
  const error = { code: -32005, message: "Node is unhealthy" };
  const lift = faulty(() => ({ kind: "error", ...error }));
  expect((await raw.call("slotSubscribe")).error).toEqual(error);
  lift();
  faulty(() => ({ kind: "lie", answer: () => 4242 }));
  expect((await raw.call("slotSubscribe")).result).toBe(4242);
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
  expect((await raw.call("slotSubscribe")).error).toMatchObject({ code: -32603 });
  await expect(rawSocket(webSocketUrl)).rejects.toThrow("500");
  chain.advance(1);
  expect(await raw.closed).toBe(1006);
});

test("P25: behind a dead websocket confirmTransaction does not end while the transaction is long final", async () => {
  const chain = await stillChain();
  const { connection, latest, transaction, signature } = await signedTransfer(chain, SOL);
  chain.faults.add(({ transport }) => (transport === "websocket" ? { kind: "hang" } : undefined));
  await connection.sendTransaction(transaction);
  let ended = false;
  const given = new AbortController();
  const confirmation = connection
    .confirmTransaction({ signature, ...latest, abortSignal: given.signal })
    .finally(() => (ended = true));
  chain.advance(40);
  expect((await connection.getSignatureStatus(signature)).value?.confirmationStatus).toBe("finalized");
  await turn();
  expect(ended).toBe(false);
  given.abort(new Error("enough"));
  await expect(confirmation).rejects.toThrow("enough");
});

test("notifications are lost while a fault loses them, and come again afterwards", async () => {
  const chain = await stillChain();
  const raw = await rawSocketOf(chain);
  await raw.call("slotSubscribe");
  for (const kind of ["drop", "hang"] as const) {
    const lift = chain.faults.add(({ method }) => (method === "slotNotification" ? { kind } : undefined));
    chain.advance(1);
    await turn();
    lift();
  }
  chain.advance(1);
  expect((await raw.next()).params?.result).toMatchObject({ slot: chain.slot() });
});
