/** A service on PostgreSQL starts on the chain that its database belongs to, and on no other. */
import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createLocalChain, type LocalChain } from "../../src/local/index.ts";
import { systemClock, silentLogger } from "../../src/core/runtime.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { postgresDatabase, type PostgresDatabase } from "../kit/postgres-database.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const secret = randomBytes(32);

async function serviceOn(database: PostgresDatabase, chain: LocalChain): Promise<PaymentService> {
  const storage = await database.open({ clock: "database" });
  const ledger = solanaLedger({ endpoints: [{ url: "http://chain", fetch: chain.fetch }] });
  const masterSecrets = [{ version: 1, secret }];
  const service = createPaymentService({ storage, ledger, masterSecrets, logger: silentLogger });
  onTestFinished(async () => {
    await service.stop({ timeoutMs: 0 });
    await ledger.close();
    await storage.close();
  });
  return service;
}

test.skipIf(!HAS_POSTGRES)(
  "E14: another genesis hash refuses the start, changes nothing, and the right chain is served on",
  async () => {
    const database = await postgresDatabase();
    onTestFinished(() => database.destroy());
    const [mine, other] = await Promise.all(
      ["mine", "another chain"].map((seed) => createLocalChain({ clock: systemClock, slotMs: 0, seed })),
    );
    if (mine === undefined || other === undefined) throw new Error("two chains were made");
    for (const chain of [mine, other]) onTestFinished(() => chain.close());
    await (await serviceOn(database, mine)).start();
    const misplaced = await serviceOn(database, other);
    await expect(misplaced.start()).rejects.toThrow(
      `this database belongs to the chain with genesis hash ${mine.genesisHash}, but the ledger answers for ${other.genesisHash}: ` +
        "use another database for this chain, or the endpoints of the other chain",
    );
    const storage = await database.open();
    expect(await paymentStorage(storage).fact("genesisHash")).toBe(mine.genesisHash);
    await storage.close();
    const again = await serviceOn(database, mine);
    await again.start();
    expect(await again.health()).toMatchObject({ storage: "ok", chain: { state: "compared" } });
  },
);
