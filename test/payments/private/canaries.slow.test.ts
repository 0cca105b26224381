/** H13, P2: the private keys of private mode are looked for wherever anything is kept, told or logged. */
// modules: private
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hkdfSync } from "node:crypto";
import bs58 from "bs58";
import { expect, test } from "vitest";
import { sqliteStorage } from "../../kit/storages.ts";
import { depositKeys } from "../../../src/payments/frame/secrets/deposit-keys.ts";
import { everythingIn, recorder } from "../../core/recorder.ts";
import { MINUTE, scene } from "./scene.ts";

const MASTER = Uint8Array.from({ length: 32 }, (_, index) => (index * 37 + 11) % 256);

/** Every spelling in which a secret could be found again. */
function spellings(secret: Uint8Array): Buffer[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const texts = [
    hex,
    hex.toUpperCase(),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
  ];
  return [
    bytes,
    ...[...texts, bs58.encode(bytes), JSON.stringify([...bytes])].map((text) => Buffer.from(text)),
  ];
}

test("H13, P2: no key of a deposit address, no master secret and no sponsor's key is in a database file, log, error or answer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-private-canaries-"));
  const { logger, lines } = recorder();
  const answers: unknown[] = [];
  const database = await sqliteStorage(join(folder, "payments.db"));
  const world = await scene({
    storage: database,
    logger,
    masterSecrets: [{ version: 1, secret: MASTER }],
  });
  const orders = [await world.sendTo(), await world.sendTo({ asset: "SOL", amount: "0.5" })];
  const [usdc, sol] = orders;
  if (usdc === undefined || sol === undefined) throw new Error("two orders were taken");
  // Part of it goes wrong and is talked about: the sponsor is empty for a while.
  const [lamports] = await world.held(world.sponsor.address);
  await world.pay(world.sponsor, world.treasury.address, lamports);
  await world.deposit(usdc.address, { usdc: usdc.due + 4_000_000n, lamports: 5_000_000n });
  await world.settle(4);
  world.chain.fund(world.sponsor.address, { lamports });
  await world.deposit(sol.address, { lamports: sol.due });
  await world.passAndSettle(5 * MINUTE, 10);
  await world.passAndSettle(31 * MINUTE, 10);
  for (const order of orders) {
    answers.push(await world.shown(order), await world.service.operator.attention());
  }
  const lost = depositKeys([{ version: 1, secret: MASTER }], () => world.chain.genesisHash);
  try {
    lost.signer({ masterVersion: 2, transactionId: usdc.id });
  } catch (error) {
    answers.push(error);
  }
  answers.push(lost.signer({ masterVersion: 1, transactionId: usdc.id }));
  answers.push(
    await world.service.createTransaction(world.customer, {} as never).catch((error: unknown) => error),
  );
  await world.settle(4);
  expect((await world.shown(usdc)).status).toBe("completed");
  expect(lines.length).toBeGreaterThan(0);

  const genesis = world.chain.genesisHash;
  const derived = (purpose: string, id: string): Buffer =>
    Buffer.from(hkdfSync("sha256", MASTER, genesis, `paystate ${purpose} v1\n${id}`, 32));
  const secrets: Readonly<Record<string, Uint8Array>> = Object.fromEntries([
    ["the master secret", MASTER],
    ["the sponsor's key", world.sponsor.secretKey.subarray(0, 32)],
    ...orders.map(({ id }, index) => [`the key of address ${index}`, derived("deposit address", id)]),
  ]) as Readonly<Record<string, Uint8Array>>;
  // The test would find nothing if it derived something else than the service does.
  const { keypairSigner } = await import("../../../src/ledger/sign-transaction.ts");
  expect(keypairSigner(derived("deposit address", usdc.id)).address).toBe(usdc.address);

  const files = (): [string, Buffer][] =>
    readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]);
  const live = files();
  await world.judge();
  await world.close();
  await database.close();
  const places: [string, Buffer][] = [
    ...live,
    ...files().map(([file, bytes]): [string, Buffer] => [`${file}, closed`, bytes]),
    ["the log", Buffer.from(everythingIn(lines))],
    ["the answers", Buffer.from(everythingIn(answers))],
  ];
  rmSync(folder, { recursive: true });
  const found = places.flatMap(([place, bytes]) =>
    Object.entries(secrets)
      .filter(([, secret]) => spellings(secret).some((spelling) => bytes.includes(spelling)))
      .map(([secret]) => `${secret} is in ${place}`),
  );
  expect(found).toEqual([]);
});
