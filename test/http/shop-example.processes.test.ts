/** The example of a shop in a real browser, with all that it needs run as a reader would run it, and killed on the way. */
// modules: webhooks
import { join } from "node:path";
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import type { Browser, Page } from "playwright-core";
import { createClient, type PaymentClient } from "paystate/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  barriers,
  BROWSER_TEST_MS,
  hasBrowser,
  launchBrowser,
  openPage,
  type WatchedPage,
} from "../inspector/browser-kit.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";
import { program } from "../programs/programs.ts";
import { ROOT } from "../readme/page.ts";
import { endPrograms, freePort, startProgram, type RunningProgram } from "../readme/programs.ts";

const STAFF_KEY = "the key of the staff";

let folder: string;
eachInFolder((made) => {
  folder = made;
});
afterAll(endPrograms);

/** The shop with its chain, its service and the way of its webhooks. */
function startShop(port: number): RunningProgram {
  const env = { PORT: String(port), STAFF_KEY };
  return startProgram(process.execPath, ["--import", "tsx", "examples/shop/start.ts", folder], {
    cwd: ROOT,
    env,
  });
}

async function clientOf(shop: RunningProgram): Promise<PaymentClient> {
  const [, baseUrl = "", apiKey = ""] = await shop.says(/payments: (\S+)\/_inspector, key (\S+);/);
  return createClient({ baseUrl, apiKey });
}

async function usdcOf(client: PaymentClient, address: string): Promise<string | undefined> {
  const { tokens } = await client.getBalances(address);
  return tokens.find(({ symbol }) => symbol === "USDC")?.balance;
}

const pay = (page: Page): Promise<void> =>
  page.getByRole("button", { name: "Pay with Practice wallet" }).click();

/** How often anything was packed, and under which keys. */
const packed = (...shops: readonly RunningProgram[]): readonly string[] =>
  shops.flatMap((shop) =>
    [...shop.output().matchAll(/^packing .* under (\S+)$/gm)].map(([, key = ""]) => key),
  );

/** Hands each notice of a completed payment to the shop once more. */
async function redeliverAll(client: PaymentClient): Promise<void> {
  for (const { webhookId } of (await client.listWebhooks()).webhooks) {
    for await (const { deliveryId, event } of client.listDeliveries(webhookId)) {
      if (event === "transaction.completed") await client.redeliver(webhookId, deliveryId);
    }
  }
}

interface PracticeKey {
  readonly address: string;
  readonly secretKey: readonly number[];
}

const practiceKey = async (at: string): Promise<PracticeKey> =>
  (await (await fetch(`${at}/practice-key`)).json()) as PracticeKey;

const orderOf = async (at: string, id: string): Promise<unknown> =>
  (await fetch(`${at}/orders/${id}`)).json();

/** Hands in USDC for the poster: at the shop's own door, which refuses it, and past the shop, until the shop was told of it. */
async function fooled(
  shop: RunningProgram,
  { at, poster }: { readonly at: string; readonly poster: string },
): Promise<void> {
  const client = await clientOf(shop);
  const { address: sender, secretKey } = await practiceKey(at);
  const [order] = (await client.listTransactions({ asset: "USDC", sender }).page()).data;
  const recipients = [{ address: order?.recipients[0]?.address ?? "", amount: "0.1" }];
  const quoted = await client.createQuote({
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "0.1",
    sender,
    recipients,
  });
  const transaction = VersionedTransaction.deserialize(Buffer.from(quoted.transaction ?? "", "base64"));
  transaction.sign([Keypair.fromSecretKey(Uint8Array.from(secretKey))]);
  const signed = {
    quoteId: quoted.quoteId,
    signedTransaction: Buffer.from(transaction.serialize()).toString("base64"),
  };
  const refused = await fetch(`${at}/orders/${poster}/payment`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(signed),
  });
  expect(refused.status).toBe(400);
  const send = { type: "send", sender, recipients, reference: poster, ...signed } as const;
  const { transactionId } = await client.createTransaction(send);
  await shop.says(new RegExp(`(${transactionId}) is not what order ${poster} asks for`));
}

describe.skipIf(!hasBrowser)("a shop that takes USDC and SOL", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, BROWSER_TEST_MS);
  afterAll(() => browser.close());

  test(
    "U16: a wallet in a real browser pays, all is killed, the goods are packed once, and both kinds of refund arrive",
    { timeout: 2 * BROWSER_TEST_MS },
    async () => {
      const port = await freePort();
      const at = `http://127.0.0.1:${port}`;
      const visit = async (path: string): Promise<WatchedPage> => {
        const opened = await openPage(browser, at);
        await opened.page.goto(at + path);
        return opened;
      };
      const killed = startShop(port);
      await clientOf(killed);

      // The customer says no, then yes; it is one order.
      const customer = await visit("/");
      customer.page.once("dialog", (dialog) => void dialog.dismiss());
      await pay(customer.page);
      await customer.page.getByText("the wallet was told no").waitFor();
      customer.page.on("dialog", (dialog) => void dialog.accept());
      await pay(customer.page);
      await customer.page.getByText("Waiting for the payment").waitFor();
      expect(await barriers(customer.page)).toEqual([]);
      const id = new URL(customer.page.url()).hash.slice(1);
      await customer.page.context().close();
      expect(customer.complaints).toEqual([]);
      await endPrograms();

      const shop = startShop(port);
      const client = await clientOf(shop);
      const after = await visit(`/#${id}`);
      await after.page.getByText("On its way to you").waitFor();
      expect((await client.listTransactions({ reference: id }).page()).data).toHaveLength(1);

      // A notice that comes twice packs nothing, and one that nobody signed is refused.
      const before = packed(killed, shop);
      expect(new Set(before).size).toBe(1);
      await redeliverAll(client);
      const forged = { event: "transaction.completed", data: { reference: id } };
      const sent = await fetch(`${at}/webhook`, { method: "POST", body: JSON.stringify(forged) });
      expect(sent.status).toBe(400);
      expect(packed(killed, shop)).toEqual(before);

      // The goods come back: the staff says so, and nobody else can.
      const returned = (authorization: string) =>
        fetch(`${at}/orders/${id}/returned`, { method: "POST", headers: { authorization } });
      expect((await returned("Bearer guessed")).status).toBe(401);
      expect((await returned(`Bearer ${STAFF_KEY}`)).status).toBe(202);
      await after.page.getByText("Your money is back").waitFor();
      expect((await returned(`Bearer ${STAFF_KEY}`)).status).toBe(409);

      // What cannot be packed is paid back without anybody's word.
      const second = await visit("/");
      second.page.on("dialog", (dialog) => void dialog.accept());
      await second.page.getByLabel("What").selectOption("piano");
      await pay(second.page);
      await second.page.getByText("Your money is back").waitFor();
      expect([...after.complaints, ...second.complaints]).toEqual([]);

      const { address } = await practiceKey(at);
      expect(await usdcOf(client, address)).toBe("10000");
      const payments = (await client.listTransactions().page()).data;
      expect(payments.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "completed"));
      expect(packed(killed, shop)).toEqual(before);

      // A poster costs 0.1 SOL. As much USDC under its order's name packs nothing, whoever has it taken.
      const third = await visit("/");
      third.page.once("dialog", (dialog) => void dialog.dismiss());
      await third.page.getByLabel("What").selectOption("poster");
      await pay(third.page);
      await third.page.getByText("the wallet was told no").waitFor();
      const poster = new URL(third.page.url()).hash.slice(1);
      await fooled(shop, { at, poster });
      expect(await orderOf(at, poster)).toMatchObject({ state: "open", asset: "SOL", price: "0.1" });
      expect(packed(killed, shop)).toEqual(before);
      third.page.on("dialog", (dialog) => void dialog.accept());
      await pay(third.page);
      await third.page.getByText("On its way to you").waitFor();
      expect(new Set(packed(killed, shop)).size).toBe(2);
      expect(third.complaints).toEqual([]);
      await shop.stop();

      const data = join(folder, "payments");
      const reconciled = startProgram(
        process.execPath,
        [...program("paystate"), "operator", "reconcile", "--data", data],
        {
          cwd: ROOT,
        },
      );
      expect(await reconciled.ended, reconciled.output()).toBe(0);
      expect(reconciled.output()).toContain("6 wallet transactions that are over.");
    },
  );
});
