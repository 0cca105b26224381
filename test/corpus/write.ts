/**
 * Writes the lives that the tests replay, for versions of charts that have no file yet: `npx tsx test/corpus/write.ts`. To
 * be run once for each new version, before it is released; the files of older versions are never written again.
 */
// modules: webhooks
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateFixture } from "../kit/private-fixture.ts";
import { units } from "../kit/money.ts";
import { webhookWorld } from "../payments/webhooks/webhook-world.ts";
import { CORPUS, livesIn, type StoredLives } from "./lives.ts";

/** A send, and one with a delivery that is still tried: none is kept that has ended. */
async function sends(): Promise<readonly StoredLives[]> {
  const world = await webhookWorld();
  await world.register();
  await world.sendOne();
  await world.fixture.finalize();
  world.receiver.answer((_, response) => void response.writeHead(500).end());
  await world.sendOne();
  await world.fixture.pass(60_000);
  const lives = await livesIn(world.fixture.storage);
  await world.close();
  return lives;
}

// modules: private
/** A private order and its transfers: its payee is paid, and its rest goes back. */
async function privateOrders(): Promise<readonly StoredLives[]> {
  const world = await privateFixture();
  const caller = await world.caller();
  const sender = world.wallet("alice", { lamports: 1_000_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const { body } = await world.order(caller, { sender, to: [{ address: bob.address, amount: "5" }] });
  await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
  await world.settle();
  const lives = await livesIn(world.storage);
  await world.close();
  return lives;
}

mkdirSync(CORPUS, { recursive: true });
const written = [
  await sends(),
  await privateOrders(), // modules: private
];
for (const lives of written.flat()) {
  const file = join(CORPUS, `${lives.workflow}.json`);
  if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(lives, null, 1)}\n`);
}
