import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Keypair } from "@solana/web3.js";
import { createHttpHandler } from "paystate";
import { createClient } from "paystate/client";
import { createLocalChain } from "paystate/local";
import { sqliteStorage } from "paystate/storage/sqlite";
import { passTime, virtualClock } from "paystate/testing";
import { createApp } from "./app.ts";
import { sendPrice } from "./send-price.ts";
import { isPaid } from "./shop.ts";

test("an order is paid once, and completed half a minute later", async () => {
  const clock = virtualClock();
  // Its slots follow the clock that the test turns: a block is final after 32 of them.
  const chain = await createLocalChain({ clock });
  const alice = chain.createWallet("alice", { lamports: 5_000_000_000n });
  const storage = await sqliteStorage(":memory:");
  clock.advance(20_000);
  const secret = new Uint8Array(32).fill(7);
  const folder = mkdtempSync(join(tmpdir(), "shop-"));
  const shop = {
    address: chain.createWallet("shop", { lamports: 1_000_000_000n }).address,
    secret: "the webhook's secret",
    folder,
  };
  const { service, close } = await createApp({ chain, storage, clock, secret, shop });
  const { accountId } = await service.createAccount({ name: "a customer", tier: "free" });
  const { key } = await service.issueKey({ accountId, environment: "test" });
  const { fetch } = createHttpHandler({ service, clock });
  const client = createClient({ baseUrl: "http://localhost", apiKey: key, fetch });

  const order = { order: "o-1", from: Keypair.fromSecretKey(alice.secretKey), to: shop.address };
  const id = await sendPrice(client, order);
  assert.equal(await sendPrice(client, order), id);
  for (let second = 0; second < 30; second += 1) {
    await passTime({ clock, engine: service, storage, workflows: service.workflows }, clock.now() + 1_000);
  }
  const data = await client.getTransaction(id);
  assert.equal(data.status, "completed");

  const paid = { event: "transaction.completed", data };
  assert.equal(isPaid(paid, shop.address), true);
  assert.equal(isPaid({ ...paid, event: "transaction.confirmed" }, shop.address), false);
  assert.equal(isPaid({ ...paid, data: { ...data, outputAsset: "USDC" } }, shop.address), false);
  assert.equal(isPaid(paid, chain.faucet.address), false);
  const recipients = [{ address: shop.address, amount: "0.015" }];
  assert.equal(isPaid({ ...paid, data: { ...data, recipients } }, shop.address), false);

  await close();
  await chain.close();
});
