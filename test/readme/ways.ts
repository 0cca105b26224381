/** The files that one payment runs, counted by V8: `npm run way -- send`, and `payroll` for a private one. */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import type { CreatedTransferBody } from "../../src/payments/wallet/accept-signed.ts";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import type { QuoteBody } from "../../src/payments/quotes/quote-body.ts";
import { privateFixture, type PrivateFixture } from "../kit/private-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { ROOT } from "./page.ts";

/** The chain is the development's own, and its clients are none of the service. */
const COUNTED = /^(machines|storage|src\/(?!local\/|cli\/))/;

/** A service with private mode on, over one SQLite file, and a customer with a key. */
interface WayWorld extends PrivateFixture {
  /** Posts a body; its answer has to be a 201. */
  post<Body>(path: string, body: object): Promise<Body>;
  /** Throws for a status of the customer's transaction that is not `completed`. */
  expectCompleted(transactionId: string): Promise<void>;
}

/** A wallet's send of one USDC, from its quote until it is final. */
async function send({ wallet, post, sign, finalize, expectCompleted }: WayWorld): Promise<void> {
  const from = wallet("alice", { lamports: 1_000_000_000n, usdc: 10_000_000n });
  const recipients = [{ address: wallet("bob").address, amount: "1" }];
  const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "1", sender: from.address, recipients };
  const { quoteId, transaction = "" } = await post<QuoteBody>("/v1/quotes", asked);
  const signedTransaction = sign(transaction, from);
  const order = { type: "send", quoteId, sender: from.address, recipients, signedTransaction };
  const { transactionId } = await post<CreatedTransferBody>("/v1/transactions", order);
  await finalize();
  await expectCompleted(transactionId);
}

/** A private payroll of two, from its quote until all are paid. */
async function payroll({ wallet, post, deposit, settle, expectCompleted }: WayWorld): Promise<void> {
  const sender = wallet("alice").address;
  const recipients = ["bob", "carol"].map((name) => ({ address: wallet(name).address, amount: "5" }));
  const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "10", mode: "private", recipients };
  const { quoteId, inputAmount } = await post<QuoteBody>("/v1/quotes", asked);
  const order = { type: "payroll", mode: "private", quoteId, sender, recipients };
  const { transactionId, ephemeralAddress } = await post<CreatedOrderBody>("/v1/transactions", order);
  await deposit(ephemeralAddress, { usdc: BigInt(Math.round(Number(inputAmount) * 1_000_000)) });
  await settle();
  await expectCompleted(transactionId);
}

/** Every way by its name. */
const WAYS = { send, payroll } satisfies Readonly<Record<string, (world: WayWorld) => Promise<void>>>;

/** Prints how many files the way runs, and which. Loading a file does not count, nor does the service's start. */
async function printWay(name: string): Promise<void> {
  if (!Object.hasOwn(WAYS, name)) throw new Error(`expected ${Object.keys(WAYS).join(" or ")}`);
  const folder = mkdtempSync(join(tmpdir(), "paystate-way-"));
  const storage = await sqliteStorage(join(folder, "way.db"));
  const fixture = await privateFixture({ storage });
  try {
    const files = await filesRunBy(WAYS[name as keyof typeof WAYS], await worldOn(fixture));
    process.stdout.write(`${files.length} files\n${files.join("\n")}\n`);
  } finally {
    await fixture.close();
    await storage.close();
    rmSync(folder, { recursive: true });
  }
}

async function worldOn(fixture: PrivateFixture): Promise<WayWorld> {
  const { service, clock } = fixture;
  const handler = createHttpHandler({ service, clock });
  const caller = await fixture.caller();
  const { key } = await service.issueKey({ accountId: caller.accountId, environment: "test" });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return {
    ...fixture,
    async post<Body>(path: string, body: object): Promise<Body> {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await handler.fetch(new Request(`http://localhost${path}`, init));
      if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Body;
    },
    async expectCompleted(transactionId) {
      const { status } = await service.transaction(caller, transactionId);
      if (status !== "completed") throw new Error(`${transactionId} is ${status}`);
    },
  };
}

async function filesRunBy(
  way: (world: WayWorld) => Promise<void>,
  world: WayWorld,
): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await way(world);
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const ran = result.filter(({ functions }) =>
    // The function that begins at 0 is the file itself.
    functions.some(({ ranges: [whole] }) => whole !== undefined && whole.startOffset > 0 && whole.count > 0),
  );
  const paths = ran.map(({ url }) => url.replace(`file://${ROOT}`, "").replace(/\?.*$/, ""));
  return [...new Set(paths)].filter((path) => COUNTED.test(path)).toSorted();
}

await printWay(process.argv[2] ?? "");
