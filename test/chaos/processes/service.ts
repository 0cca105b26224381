/** One of several processes of the payment service on one database: it is killed, frozen and started again. */
// modules: webhooks
import { openSync, readSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpHandler, createPaymentService } from "paystate";
import { systemClock } from "paystate/engine";
import { silentLogger } from "../../../src/core/runtime.ts";
import { chaosOptions } from "../service-options.ts";
import { openStorage } from "../open-storage.ts";
import type { ServiceReady, ServiceSettings } from "./settings.ts";

const settings = JSON.parse(process.argv[2] ?? "") as ServiceSettings;
const { clockOffMs, clockFile } = settings;
const clock = clockFile === null ? null : openSync(clockFile, "r");
const putMs = new Float64Array(1);
const now = (): number => {
  if (clock !== null) readSync(clock, putMs, 0, 8, 0);
  return systemClock.now() + clockOffMs + (putMs[0] ?? 0);
};
const NO_LIMIT = { free: 1_000_000, pro: 1_000_000, enterprise: 1_000_000 };

const service = createPaymentService({
  ...chaosOptions(settings),
  storage: await openStorage(settings.database),
  clock: { ...systemClock, now },
  logger: {
    ...silentLogger,
    error: (fields, message) =>
      void process.stderr.write(
        `${message} ${JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.stack : value))}\n`,
      ),
  },
});
await service.start();
const { node } = createHttpHandler({
  service,
  limits: { reads: NO_LIMIT, quotes: NO_LIMIT, creates: NO_LIMIT },
});
const server = createServer((request, response) => void node(request, response));
server.listen(0, "127.0.0.1", () => {
  const ready: ServiceReady = { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  process.send?.(ready);
});
process.on("disconnect", () => process.exit());
