/** One of several processes of the payment service on one database: it is killed, frozen and started again. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpHandler, createPaymentService } from "paystate";
import { systemClock } from "paystate/engine";
import { silentLogger } from "../../../src/runtime.ts";
import { chaosOptions } from "../service-options.ts";
import { openStorage } from "../open-storage.ts";
import type { ServiceDemand, ServiceReady, ServiceSettings } from "./settings.ts";

const settings = JSON.parse(process.argv[2] ?? "") as ServiceSettings;
let { clockOffMs } = settings;
process.on("message", (demand: ServiceDemand) => void ({ clockOffMs } = demand));
const NO_LIMIT = { free: 1_000_000, pro: 1_000_000, enterprise: 1_000_000 };

const service = createPaymentService({
  ...chaosOptions(settings),
  storage: await openStorage(settings.database),
  clock: { ...systemClock, now: () => systemClock.now() + clockOffMs },
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
