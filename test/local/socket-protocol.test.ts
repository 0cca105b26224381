/** The words of a node over a websocket: answers, errors, limits. */
import { expect, test } from "vitest";
import { SOL, somebody, stillChain } from "./kit.ts";
import { listening, rawSocket } from "./sockets.ts";

test("both ports take websockets: the next one, where web3.js looks, and the one that is told", async () => {
  const chain = await stillChain();
  const { url, webSocketUrl } = await listening(chain);
  expect(Number(new URL(webSocketUrl).port)).toBe(Number(new URL(url).port) + 1);
  for (const address of [webSocketUrl, url.replace("http", "ws")]) {
    expect((await (await rawSocket(address)).call("slotSubscribe")).error, address).toBeUndefined();
  }
});

test("a port whose next one is in use is refused, and is free again afterwards", async () => {
  const chain = await stillChain();
  const { webSocketUrl, close } = await listening(chain);
  const taken = Number(new URL(webSocketUrl).port);
  const other = await stillChain();
  const there = { host: "127.0.0.1", port: taken - 1 };
  await expect(other.listen({ ...there, port: taken })).rejects.toThrow(
    `port ${taken} of 127.0.0.1 is in use:`,
  );
  await close();
  const blocker = await other.listen({ ...there, port: taken });
  await expect(chain.listen(there)).rejects.toThrow(
    `port ${taken} of 127.0.0.1 is in use, where clients look for the websocket of port ${taken - 1}: stop what listens there`,
  );
  await blocker.close();
  expect((await chain.listen(there)).url).toContain(`:${taken - 1}`);
});

test("the first subscription is number 0, and each is ended once", async () => {
  const chain = await stillChain();
  const raw = await rawSocket((await listening(chain)).webSocketUrl);
  const address = somebody().toBase58();
  expect(await raw.call("accountSubscribe", address)).toEqual({ jsonrpc: "2.0", result: 0, id: 1 });
  expect((await raw.call("slotSubscribe")).result).toBe(1);
  expect((await raw.call("accountUnsubscribe", 0)).result).toBe(true);
  expect((await raw.call("accountUnsubscribe", 0)).error).toEqual({
    code: -32602,
    message: "Invalid subscription id.",
  });
  chain.fund(address, { lamports: SOL });
  chain.advance(1);
  expect(await raw.next()).toMatchObject({ method: "slotNotification", params: { subscription: 1 } });
});

test("a subscription belongs to its socket: another cannot end it", async () => {
  const chain = await stillChain();
  const { webSocketUrl } = await listening(chain);
  const [one, two] = [await rawSocket(webSocketUrl), await rawSocket(webSocketUrl)];
  const { result } = await one.call("slotSubscribe");
  expect((await two.call("slotUnsubscribe", result)).error?.code).toBe(-32602);
});

test("what makes no sense is answered with agave's codes", async () => {
  const chain = await stillChain();
  const raw = await rawSocket((await listening(chain)).webSocketUrl);
  const code = async (method: string, ...params: unknown[]): Promise<number | undefined> =>
    (await raw.call(method, ...params)).error?.code;
  const address = somebody().toBase58();
  expect(await code("voteSubscribe")).toBe(-32601);
  expect(await code("getSlot")).toBe(-32601);
  expect(await code("accountSubscribe", "nobody")).toBe(-32602);
  expect(await code("accountSubscribe", address, { commitment: "certain" })).toBe(-32602);
  expect(await code("programSubscribe", address, { filters: [{}] })).toBe(-32602);
  expect(
    await code("programSubscribe", address, { filters: [{ memcmp: { offset: 0, bytes: "0OI" } }] }),
  ).toBe(-32602);
  expect(await code("logsSubscribe", { mentions: [address, address] })).toBe(-32602);
  expect(await code("logsSubscribe", "some")).toBe(-32602);
  expect(await code("signatureSubscribe", address)).toBe(-32602);
  expect(await code("slotUnsubscribe", "0")).toBe(-32602);
  raw.socket.send("{");
  expect((await raw.next()).error?.code).toBe(-32700);
});

test("a message without an id is carried out and not answered, like web3.js's ping", async () => {
  const chain = await stillChain();
  const raw = await rawSocket((await listening(chain)).webSocketUrl);
  raw.send({ jsonrpc: "2.0", method: "ping" });
  raw.send([{ jsonrpc: "2.0", method: "rootSubscribe" }]);
  expect(await raw.call("slotSubscribe")).toMatchObject({ id: 1, result: 1 });
});

test("an account that is gone is told as an empty one, and long data in base58 as an error text", async () => {
  const chain = await stillChain();
  const raw = await rawSocket((await listening(chain)).webSocketUrl);
  await raw.call("accountSubscribe", chain.mints.USDC, { commitment: "processed", encoding: "base58" });
  await raw.call("programSubscribe", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", {
    commitment: "processed",
    filters: [{ dataSize: 165 }],
  });
  chain.fund(somebody().toBase58(), { usdc: 5n });
  const { params: mint } = await raw.next();
  expect(mint?.result).toMatchObject({
    value: { space: 82, data: [expect.any(String) as string, "base58"] },
  });
  const { params: account } = await raw.next();
  expect(account?.result).toMatchObject({
    value: { account: { space: 165, data: "error: data too large for bs58 encoding" } },
  });
});

test("a socket holds at most 1000 subscriptions and takes no large or binary messages", async () => {
  const chain = await stillChain();
  const { webSocketUrl } = await listening(chain);
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
  let cut = false;
  void lazy.closed.then(() => (cut = true));
  // 512 slots, told 300 times, are 18 MB: more than the sockets of the system hold.
  chain.advance(512);
  expect((await heard).method).toBe("slotNotification");
  lazy.socket.resume();
  expect(await lazy.closed).toBe(1006);
  expect(cut).toBe(true);
});

test("closing the chain closes its sockets", async () => {
  const chain = await stillChain();
  const raw = await rawSocket((await listening(chain)).webSocketUrl);
  await raw.call("slotSubscribe");
  await chain.close();
  expect([1001, 1006]).toContain(await raw.closed);
});
