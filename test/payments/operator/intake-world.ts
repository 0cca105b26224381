/** What the tests of pauses, suspensions and limits share: a service on each adapter, and a POST that others overtake. */
import { afterEach } from "vitest";
import type { Commit } from "../../../storage/storage.ts";
import type { PaymentStorage, PaymentTables } from "../../../src/payments/payment-storage.ts";
import type { Adapter } from "../../kit/adapters.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import { privateFixture, type PrivateFixture } from "../../kit/private-fixture.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";

/** A service with private mode, a rich wallet, and a hook into its storage. */
export interface IntakeWorld extends PrivateFixture {
  readonly alice: Wallet;
  readonly bob: Wallet;
  /** Called once, before the next commit that writes to this table is made. */
  before(table: keyof PaymentTables, act: () => Promise<unknown>): void;
}

type Opened = { close(): Promise<void>; destroy(): Promise<void> };
const opened: Opened[] = [];

/** Closes every world that a test has opened. Call it once in a file. */
export function closeWorlds(): void {
  afterEach(async () => {
    for (const world of opened.splice(0)) {
      await world.close();
      await world.destroy();
    }
  });
}

export async function intakeWorld(
  { make }: Adapter,
  options: Partial<PaymentServiceOptions> = {},
): Promise<IntakeWorld> {
  const underTest = await make();
  const storage = await underTest.open();
  const hooks: { readonly table: keyof PaymentTables; readonly act: () => Promise<unknown> }[] = [];
  const hooked: PaymentStorage = {
    ...storage,
    async commit(items: readonly Commit<PaymentTables>[]) {
      const writes = items.flatMap((item) => item.writes ?? []);
      const index = hooks.findIndex(({ table }) => writes.some((write) => write.table === table));
      const [hook] = index < 0 ? [] : hooks.splice(index, 1);
      await hook?.act();
      return storage.commit(items);
    },
  };
  const world = await privateFixture({ ...options, storage: hooked });
  opened.push({
    async close() {
      await world.close();
      await storage.close();
    },
    destroy: () => underTest.destroy(),
  });
  // Purses are read finalized.
  world.chain.advance(35);
  return {
    ...world,
    alice: world.wallet("alice", { lamports: 10_000_000_000n, usdc: 900_000_000n, usdt: 900_000_000n }),
    bob: world.wallet("bob", { lamports: 1_000_000_000n }),
    before: (table, act) => void hooks.push({ table, act }),
  };
}
