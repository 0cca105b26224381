/** Providers of another kind than the desk: what they may do differently, and what the chain alone still decides. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { signTransaction, type Signer } from "../../../src/ledger/sign-transaction.ts";
import { deskProvider } from "../../../src/payments/swap/desk/desk-provider.ts";
import type {
  Swapper,
  SenderSignedSwap,
  SwapProvider,
} from "../../../src/payments/frame/exchange/swap-provider.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { swapTest as test } from "../../kit/swap-test.ts";

/** One that is the desk in all but what is said here. */
const like = (signer: Signer, change: (desk: Swapper) => Partial<Swapper>): SwapProvider => ({
  name: "another",
  connect(surroundings) {
    const desk = deskProvider({ desk: signer }).connect(surroundings);
    return { ...desk, ...change(desk) };
  },
});

/** A market that keeps its plan to itself, is known by its own words, and sends what it was handed. */
function market(seen: SenderSignedSwap[]): (signer: Signer) => SwapProvider {
  return (signer) => ({
    name: "market",
    connect(surroundings) {
      const { ledger } = surroundings;
      return like(signer, (desk) => ({
        queueOf: () => null,
        offer: async (wanted, promised) => ({ ...(await desk.offer(wanted, promised)), reservations: [] }),
        build: async (swap) => ({ ...(await desk.build(swap)), plan: null, ticket: "17n" }),
        async complete(signed) {
          seen.push(signed);
          const { unsigned, sender, signature } = signed;
          await ledger.broadcast(
            (await signTransaction(unsigned, [signer], new Map([[sender, signature]]))).bytes,
          );
          return null;
        },
        direct: null,
      })).connect(surroundings);
    },
  });
}

test("a provider that sends the transaction itself is believed by nobody: the chain settles the swap", async ({
  open,
}) => {
  const seen: SenderSignedSwap[] = [];
  const world = await open({ provider: market(seen) });
  const sent: unknown[] = [];
  world.chain.faults.add(({ method, params }) => {
    if (method === "sendTransaction") sent.push(params[0]);
    return undefined;
  });
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 10_000_000_000n });
  const { quote, body } = await world.swap(caller, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
  await world.service.settled();
  expect(seen.map(({ ticket, plan }) => [ticket, plan])).toEqual([["17n", null]]);
  expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({ status: "pending" });
  await world.finalize();
  expect(await world.service.transaction(caller, body.transactionId)).toMatchObject({
    status: "completed",
    recipients: [{ amount: quote.outputAmount, status: "paid" }],
  });
  // The service never sends what it knows to be incomplete.
  expect(sent).toHaveLength(1);
  const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", mode: "private" as const };
  await expectRefusal(world.service.createQuote(caller, request), "ROUTING_UNAVAILABLE", { reason: "off" });
});

test("a provider that never signs leaves the swap to its death, and nothing is ever sent", async ({
  open,
}) => {
  let asked = 0;
  const complete = (): Promise<never> => {
    asked += 1;
    return Promise.reject(new Error("the signing service is down"));
  };
  const world = await open({ provider: (signer) => like(signer, () => ({ complete })) });
  let sent = 0;
  world.chain.faults.add(({ method }) => {
    if (method === "sendTransaction") sent += 1;
    return undefined;
  });
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 10_000_000_000n });
  const { body } = await world.swap(caller, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
  await world.pass(20_000);
  expect(asked).toBeGreaterThan(2);
  for (let round = 0; round < 6; round++) {
    world.chain.advance(60);
    await world.pass(1_000);
  }
  const failed = await world.service.transaction(caller, body.transactionId);
  expect(failed).toMatchObject({ status: "failed", reason: "expired" });
  await world.pass(120_000);
  const before = asked;
  await world.pass(600_000);
  expect([asked, sent]).toEqual([before, 0]);
  expect(await world.promised("USDC")).toBe(0n);
});

test("what a provider answers is no reason for a 500: a price that cannot be had is UPSTREAM_ERROR", async ({
  open,
}) => {
  const offer = (): Promise<never> => Promise.reject(new Error("the market is closed"));
  const world = await open({ provider: (signer) => like(signer, () => ({ offer })) });
  const caller = await world.caller();
  const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1" };
  await expectRefusal(world.service.createQuote(caller, request), "UPSTREAM_ERROR", {});
});

test("the example of an own provider runs to its end", async () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", "examples/swap-provider/main.ts"], { cwd: root });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code] = (await once(child, "exit")) as [number | null];
  expect([code, said.split("\n").slice(-4)]).toEqual([
    0,
    ["ended: completed", "alice has 60 USDC", "alice has 39.96 USDT", ""],
  ]);
});
