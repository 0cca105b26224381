/** `paystate dev` as its users see it: one line, and behind it a chain, a service and wallets that survive every end. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { promisify } from "node:util";
import bs58 from "bs58";
import { Keypair, LAMPORTS_PER_SOL, PublicKey } from "@solana/web3.js";
import { afterAll, describe, expect, test as vitestTest } from "vitest";
import { verifyServiceSignature } from "paystate"; // modules: webhooks
import { answerWith, type HttpsReceiver, startHttpsReceiver } from "../kit/https-receiver.ts";
import { leaveNothing, newDataFolder, startCommand } from "./command.ts";
import { balances, call, connection, DevHome, type DevSession, send, untilFinal } from "./dev-session.ts";

// So slow that nothing is confirmed by waiting before the first test has looked.
const SLOW_SLOTS = ["--slot-ms", "60000"];
const FAST_SLOTS = ["--slot-ms", "50"];
const SECRET = "a secret that the receiver shares";

afterAll(leaveNothing);

const test = vitestTest
  .extend("receiver", { scope: "file" }, async ({}, { onCleanup }) => {
    const receiver = await startHttpsReceiver();
    onCleanup(() => receiver.close());
    return receiver;
  })
  .extend("home", { scope: "file" }, async ({ receiver }) => {
    const folder = await newDataFolder();
    const certificates = `${folder}-ca.pem`;
    await writeFile(certificates, receiver.ca);
    const env = { NODE_EXTRA_CA_CERTS: certificates };
    return new DevHome(folder, { args: FAST_SLOTS, env }).start({ args: SLOW_SLOTS, env });
  });

describe("ready", () => {
  test("one line of JSON says where everything is, and nothing else comes on stdout", ({ home }) => {
    const line = home.dev.stdout();
    expect(line).toMatch(/^\{[^\n]*\}\n$/);
    const loopback = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string;
    const key = expect.stringMatching(/^psk_test_[0-9a-f_]+$/) as string;
    const base58 = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]+$/) as string;
    const wallet = { address: base58, secretKey: base58 };
    expect(JSON.parse(line)).toStrictEqual({
      baseUrl: loopback,
      inspectorUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/_inspector$/) as string,
      rpcUrl: loopback,
      webSocketUrl: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/) as string,
      apiKeys: { free: key, pro: key, enterprise: key },
      wallets: [wallet, wallet, wallet],
      sandbox: { frozen: base58, noAccount: base58, held: base58 },
      tokens: [
        { symbol: "SOL", mint: "So11111111111111111111111111111111111111112", decimals: 9 },
        { symbol: "USDC", mint: base58, decimals: 6 },
        { symbol: "USDT", mint: base58, decimals: 6 },
      ],
    });
  });

  test("each secret key is the 64 bytes from which its address follows", ({ home }) => {
    for (const { address, secretKey } of home.dev.wallets) {
      const bytes = bs58.decode(secretKey);
      expect(bytes).toHaveLength(64);
      expect(Keypair.fromSecretKey(bytes).publicKey.toBase58()).toBe(address);
    }
  });

  test("every wallet holds SOL and both stablecoins, for good", async ({ home }) => {
    for (const [index, { address }] of home.dev.wallets.entries()) {
      expect(await balances(home.dev, index)).toEqual({ SOL: "100", USDC: "10000", USDT: "10000" });
      const lamports = await connection(home.dev).getBalance(new PublicKey(address), "finalized");
      expect(lamports).toBe(100 * LAMPORTS_PER_SOL);
    }
  });

  test("each key is an account of its own, with the limits of its tier", async ({ home, receiver }) => {
    const registered = await call(home.dev, "/webhooks", {
      url: receiver.url,
      events: ["transaction.pending", "transaction.confirmed", "transaction.completed"],
      secret: SECRET,
    });
    expect(registered.status).toBe(201);
    const policies = await Promise.all(
      (["free", "pro", "enterprise"] as const).map(async (tier) => {
        const { body, headers } = await call(home.dev, "/webhooks", undefined, tier);
        return [(body["webhooks"] as unknown[]).length, headers.get("ratelimit-policy")];
      }),
    );
    expect(policies).toEqual([
      [1, '"reads";q=120;w=60'],
      [0, '"reads";q=600;w=60'],
      [0, '"reads";q=3000;w=60'],
    ]);
  });
});

/** What a chain's own clients can tell about it. */
async function facts(session: DevSession): Promise<{ slot: number; rest: unknown }> {
  const chain = connection(session);
  const [alice] = session.wallets;
  const history = await chain.getSignaturesForAddress(new PublicKey(alice?.address ?? ""));
  return {
    slot: await chain.getSlot("processed"),
    rest: {
      genesis: await chain.getGenesisHash(),
      history: history.map(({ signature, slot, blockTime }) => ({ signature, slot, blockTime })),
      balances: await Promise.all([0, 1, 2].map((wallet) => balances(session, wallet))),
    },
  };
}

/** Ends it, starts it again, and compares what it says and what the chain knows. */
async function expectTheSameAfter(home: DevHome, signal: "SIGINT" | "SIGKILL"): Promise<void> {
  const line = home.dev.stdout();
  const before = await facts(home.dev);
  const { code } = await home.dev.end(signal);
  expect(code).toBe(signal === "SIGINT" ? 0 : null);
  await home.start();
  expect(home.dev.stdout()).toBe(line);
  const after = await facts(home.dev);
  expect(after.rest).toEqual(before.rest);
  expect(after.slot).toBeGreaterThanOrEqual(before.slot);
}

test("after Ctrl-C and a restart the line is the same and the chain goes on where it was", ({ home }) =>
  expectTheSameAfter(home, "SIGINT"));

// modules: webhooks
test("a payment reaches its receiver, and webhooks a loopback receiver trusted by NODE_EXTRA_CA_CERTS", async ({
  home,
  receiver,
}) => {
  const id = await send(home.dev, "12.5");
  expect(await untilFinal(home.dev, id)).toMatchObject({ status: "completed" });
  expect(await balances(home.dev, 1)).toMatchObject({ USDC: "10012.5" });
  await expect.poll(() => deliveries(receiver, id)).toHaveLength(3);
  expect(deliveries(receiver, id).map(({ event }) => event)).toEqual([
    "transaction.pending",
    "transaction.confirmed",
    "transaction.completed",
  ]);
  for (const { body, signature } of deliveries(receiver, id)) {
    expect(verifyServiceSignature(body, signature, SECRET)).toBe(true);
  }
});

/** What the receiver was told about a transaction, in order of arrival. */
function deliveries(
  { requests }: HttpsReceiver,
  id: string,
): { event: string; body: Buffer; signature: string }[] {
  return requests
    .filter(({ method }) => method === "POST")
    .map(({ body, headers }) => {
      const { event, transactionId } = JSON.parse(body.toString()) as Record<string, string>;
      return { event: event ?? "", transactionId, body, signature: String(headers["x-service-signature"]) };
    })
    .filter(({ transactionId }) => transactionId === id);
}

test("after SIGKILL and a restart the line is the same and the chain goes on where it was", ({ home }) =>
  expectTheSameAfter(home, "SIGKILL"));

test("E5: killed right after the 201, a send completes once after the restart", async ({
  home,
  receiver,
}) => {
  const before = await balances(home.dev, 1);
  const id = await send(home.dev, "7.25");
  await home.dev.end("SIGKILL");
  await home.start();
  expect(await untilFinal(home.dev, id)).toMatchObject({ status: "completed" });
  expect(before).toMatchObject({ USDC: "10012.5" });
  expect(await balances(home.dev, 1)).toMatchObject({ USDC: "10019.75" });
  await expect
    .poll(() => deliveries(receiver, id).map(({ event }) => event))
    .toContain("transaction.completed");
});

test("Ctrl-C ends it at once and cleanly, whatever is under way, and nothing of it is lost", async ({
  home,
  receiver,
}) => {
  const line = home.dev.stdout();
  // A receiver that never answers, a payment on its way,
  receiver.answer(() => {});
  const delivery = receiver.nextRequest();
  const id = await send(home.dev, "1");
  await delivery;
  // and one of the connections that a browser opens in advance, on which nothing is ever asked.
  const silent = connect(Number(new URL(home.dev.baseUrl).port), "127.0.0.1").on("error", () => {});
  await new Promise((resolve) => {
    silent.once("connect", resolve);
  });
  const pressed = performance.now();
  // Through npm, one Ctrl-C arrives more than once.
  void home.dev.end("SIGINT");
  const { code, signal, stdout, stderr } = await home.dev.end("SIGINT");
  expect({ code, signal, stdout, stderr }).toEqual({ code: 0, signal: null, stdout: line, stderr: "" });
  expect(performance.now() - pressed).toBeLessThan(3_000);
  silent.destroy();
  receiver.answer(answerWith(200));

  await home.start();
  expect(home.dev.stdout()).toBe(line);
  expect(await untilFinal(home.dev, id)).toMatchObject({ status: "completed" });
  expect(await balances(home.dev, 1)).toMatchObject({ USDC: "10020.75" });
  await expect
    .poll(() => deliveries(receiver, id).map(({ event }) => event))
    .toContain("transaction.completed");
});

test("a second one on the same folder is refused and the first is left alone", async ({ home }) => {
  const second = await startCommand(["dev", "--data", home.folder, "--port", "0", "--rpc-port", "0"]).ended;
  expect(second).toMatchObject({ code: 1, stdout: "" });
  expect(second.stderr).toBe(
    `paystate: another paystate dev runs on ${home.folder}: stop it first, or choose another folder with --data\n`,
  );
  expect(await untilFinal(home.dev, await send(home.dev, "0.25"))).toMatchObject({ status: "completed" });
});

test("U6: without --json it prints a page for people that ends with a request to paste, without colours when nobody sees them", async () => {
  const page = startCommand(["dev", "--data", await newDataFolder(), "--port", "0", "--rpc-port", "0"]);
  await page.said(/\ncurl .+\n/);
  const [, command = ""] = /started again, all goes on\.\n\n(curl .+)\n$/.exec(page.stdout()) ?? [];
  const answer = await promisify(execFile)("sh", ["-c", `${command} -s`]);
  expect(JSON.parse(answer.stdout)).toMatchObject({ tokens: [{ symbol: "SOL" }, {}, {}] });
  const { code, stdout, stderr } = await page.end("SIGTERM");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^paystate dev is ready\n/);
  expect(stdout).toMatch(/^ {2}API +http:\/\/127\.0\.0\.1:\d+\/v1$/m);
  expect(stdout.match(/^ {2}(free|pro|enterprise) +psk_test_/gm)).toHaveLength(3);
  expect(stdout.match(/^ {2}secret key +\S+$/gm)).toHaveLength(3);
  // oxlint-disable-next-line eslint/no-control-regex -- the very character that must not be there
  expect(stdout).not.toMatch(/\u001b/);
});
