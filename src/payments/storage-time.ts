/** The time for quotes and their reservations: processes whose clocks differ agree on it. */
import type { ServiceContext } from "./service-context.ts";

/** The database's where it has a clock of its own, else this process's. */
export async function storageTime({
  storage,
  clock,
}: Pick<ServiceContext, "clock"> & {
  readonly storage: Pick<ServiceContext["storage"], "time">;
}): Promise<number> {
  const now = clock.now();
  return (await storage.time?.(now)) ?? now;
}
