import assert from "node:assert/strict";
import { test } from "node:test";
import { Keypair } from "@solana/web3.js";
import { createHttpHandler } from "paystate";
import { createClient } from "paystate/client";
import { createLocalChain } from "paystate/local";
import { sqliteStorage } from "paystate/storage/sqlite";
import { passTime, virtualClock } from "paystate/testing";
import { createApp } from "./app.ts";
import { sendSol } from "./send-sol.ts";

test("an order is paid once, and completed half a minute later", async () => {
  const clock = virtualClock();
  // Its slots follow the clock that the test turns: a block is final after 32 of them.
  const chain = await createLocalChain({ clock });
  const alice = chain.createWallet("alice", { lamports: 5_000_000_000n });
  const storage = await sqliteStorage(":memory:");
  clock.advance(20_000);
  const { service, close } = await createApp({ chain, storage, clock, secret: new Uint8Array(32).fill(7) });
  const { accountId } = await service.createAccount({ name: "a customer", tier: "free" });
  const { key } = await service.issueKey({ accountId, environment: "test" });
  const { fetch } = createHttpHandler({ service, clock });
  const client = createClient({ baseUrl: "http://localhost", apiKey: key, fetch });

  const order = { order: "o-1", from: Keypair.fromSecretKey(alice.secretKey), to: chain.faucet.address };
  const id = await sendSol(client, order);
  assert.equal(await sendSol(client, order), id);
  for (let second = 0; second < 30; second += 1) {
    await passTime({ clock, engine: service, storage, workflows: service.workflows }, clock.now() + 1_000);
  }
  assert.equal((await client.getTransaction(id)).status, "completed");

  await close();
  await chain.close();
});
