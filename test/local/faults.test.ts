/** The faults that other tests ask the local chain for. */
import { expect, test } from "vitest";
import type { RpcRequest } from "paystate/local";
import { NO_STATUSES } from "../kit/odd-endpoints.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { connect, keyOf, rpc, signed, SOL, somebody, stillChain, transfer } from "./kit.ts";

const sends = ({ method }: RpcRequest): boolean => method === "sendTransaction";

async function oneTransfer(chain: Awaited<ReturnType<typeof stillChain>>) {
  const connection = connect(chain, "processed");
  const alice = keyOf(chain.createWallet("alice", { lamports: 10n * SOL }));
  const recipient = somebody();
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = signed(blockhash, [transfer(alice, recipient, SOL)], [alice]);
  return { connection, transaction, recipient };
}

test("a dropped transaction is answered with its signature and never executed", async () => {
  const chain = await stillChain();
  const { connection, transaction, recipient } = await oneTransfer(chain);
  const lift = chain.faults.add((request) => (sends(request) ? { kind: "drop" } : undefined));
  const signature = await connection.sendTransaction(transaction);
  expect((await connection.getSignatureStatuses([signature])).value).toEqual([null]);
  lift();
  expect(await connection.sendTransaction(transaction)).toBe(signature);
  expect(await connection.getBalance(recipient)).toBe(Number(SOL));
});

test("a refused call does nothing, a lost answer comes after the deed", async () => {
  const chain = await stillChain();
  const { connection, transaction, recipient } = await oneTransfer(chain);
  chain.faults.add((request) =>
    sends(request) ? { kind: "refuse", status: 429, headers: { "retry-after": "7" } } : undefined,
  );
  await expect(connection.sendTransaction(transaction)).rejects.toThrow("429");
  expect(await connection.getBalance(recipient)).toBe(0);
  chain.faults.clear();
  chain.faults.add((request) => (sends(request) ? { kind: "lose-answer", status: 502 } : undefined));
  await expect(connection.sendTransaction(transaction)).rejects.toThrow("502");
  expect(await connection.getBalance(recipient)).toBe(Number(SOL));
});

test("a node can lie, lag and answer errors", async () => {
  const chain = await stillChain();
  const recipient = somebody();
  const connection = connect(chain, "processed");
  chain.advance(1);
  const signature = chain.fund(recipient.toBase58(), { lamports: SOL });
  const slot = chain.slot();
  const during = async (fault: Parameters<typeof chain.faults.add>[0], ask: () => Promise<unknown>) => {
    const lift = chain.faults.add(fault);
    const answer = await ask().catch((error: unknown) => String(error));
    lift();
    return answer;
  };
  const status = async (): Promise<unknown> =>
    (await connection.getSignatureStatuses([signature])).value[0]?.slot;
  expect(await during(() => NO_STATUSES, status)).toBeUndefined();
  expect(await status()).toBe(slot);
  const lag = { kind: "lag", slots: 1 } as const;
  expect(
    await during(
      () => lag,
      () => connection.getSlot(),
    ),
  ).toBe(slot - 1);
  expect(
    await during(
      () => lag,
      () => connection.getBalance(recipient),
    ),
  ).toBe(0);
  expect(await during(() => lag, status)).toBeUndefined();
  const unhealthy = { kind: "error", code: -32005, message: "Node is behind by 42 slots" } as const;
  expect(
    await during(
      () => unhealthy,
      () => connection.getSlot(),
    ),
  ).toContain("behind by 42 slots");
});

test("a delayed call waits on the chain's clock, a hanging one for its caller", async () => {
  const slept: number[] = [];
  const chain = await stillChain({
    clock: { now: () => 0, sleep: (ms) => (slept.push(ms), Promise.resolve()) },
  });
  chain.faults.add(({ method }) => (method === "getSlot" ? { kind: "delay", ms: 1500 } : undefined));
  chain.faults.add(({ method }) => (method === "getHealth" ? { kind: "hang" } : undefined));
  expect((await rpc(chain, "getSlot")).result).toBe(chain.slot() - 32);
  expect(slept).toEqual([1500]);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getHealth" });
  const caller = new AbortController();
  const hanging = chain.fetch("http://local.invalid", { method: "POST", body, signal: caller.signal });
  const forgotten = chain.fetch("http://local.invalid", { method: "POST", body });
  caller.abort();
  await expect(hanging).rejects.toThrow("aborted");
  await Promise.all([expect(forgotten).rejects.toThrow("without an answer"), chain.close()]);
});

test("the calls of a batch are carried out in order, and none waits for another one's delay", async () => {
  const clock = virtualClock();
  const chain = await stillChain({ clock });
  const { transaction, recipient } = await oneTransfer(chain);
  chain.faults.add(({ method }) => (method === "getSlot" ? { kind: "delay", ms: 1_500 } : undefined));
  const encoded = Buffer.from(transaction.serialize()).toString("base64");
  const processed = { encoding: "base64", preflightCommitment: "processed" };
  const batch = [
    ["getSlot", []],
    ["getSlot", []],
    ["sendTransaction", [encoded, processed]],
    ["getBalance", [recipient.toBase58(), { commitment: "processed" }]],
  ].map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
  const asked = chain.fetch("http://local.invalid", { method: "POST", body: JSON.stringify(batch) });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1_500);
  const answers = (await (await asked).json()) as unknown[];
  expect(answers.map((each) => (each as { id: number }).id)).toEqual([0, 1, 2, 3]);
  expect(answers.at(-1)).toMatchObject({ result: { value: Number(SOL) } });
});

test("a node restored from a snapshot has no older ledger, and older statuses only as long as the cache has them", async () => {
  const chain = await stillChain();
  const old = somebody();
  const signature = chain.fund(old.toBase58(), { lamports: SOL });
  const landedAt = chain.slot();
  chain.advance(100);
  const firstSlot = chain.slot();
  const young = somebody();
  const younger = chain.fund(young.toBase58(), { lamports: SOL });
  chain.advance(40);
  const ask = async (method: string, ...params: unknown[]) => rpc(chain, method, ...params);
  const statusOf = async (of: string): Promise<unknown> => {
    const { result } = await ask("getSignatureStatuses", [of], { searchTransactionHistory: true });
    return (result as { value: ({ slot: number } | null)[] }).value[0]?.slot ?? null;
  };
  expect((await ask("getFirstAvailableBlock")).result).toBe(0);
  chain.faults.add(() => ({ kind: "restored", firstSlot }));
  expect((await ask("getFirstAvailableBlock")).result).toBe(firstSlot);
  expect(await statusOf(signature)).toBe(landedAt);
  expect((await ask("getTransaction", signature)).result).toBeNull();
  expect((await ask("getSignaturesForAddress", old.toBase58())).result).toEqual([]);
  expect((await ask("getBlock", landedAt)).error).toMatchObject({ code: -32001 });
  expect((await ask("getBlockTime", landedAt)).error).toMatchObject({ code: -32001 });
  expect((await ask("getBlocks", landedAt, firstSlot + 1)).result).toEqual([firstSlot, firstSlot + 1]);
  expect((await ask("getBalance", old.toBase58())).result).toMatchObject({ value: Number(SOL) });
  chain.advance(300);
  expect(await statusOf(signature)).toBeNull();
  expect(await statusOf(younger)).toBe(firstSlot);
  expect((await ask("getSignaturesForAddress", young.toBase58())).result).toHaveLength(1);
  chain.faults.clear();
  expect(await statusOf(signature)).toBe(landedAt);
});
