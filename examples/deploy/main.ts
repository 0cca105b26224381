/** Starts the service and its HTTP API, and stops both when the machine asks for it. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { createHttpHandler } from "paystate";
import { prometheusMetrics } from "paystate/prometheus";
import { Registry } from "prom-client";
import { ledger, logger, service, storage } from "./service.ts";
import { settings } from "./settings.ts";

/** What is in hand may take so long to finish. Docker and systemd have to wait for longer before they kill. */
const STOP_MS = 20_000;

// A silent chain is waited for, and its payments with it. For a database of another chain this throws and the process ends.
await service.start();

const handler = createHttpHandler({ service, health: true, logger });
const server = createServer((request, response) => void handler.node(request, response));
server.listen(settings.port, settings.host);
await once(server, "listening");

/** A port of its own, which the world does not reach: it tells how much is paid. */
async function serveMetrics(port: number): Promise<Server> {
  const registry = new Registry();
  prometheusMetrics({ registry, service });
  const answer = async (response: ServerResponse): Promise<void> => {
    response.setHeader("content-type", registry.contentType);
    response.end(await registry.metrics());
  };
  const metrics = createServer((_request, response) => void answer(response));
  metrics.listen(port, settings.host);
  await once(metrics, "listening");
  logger.info(metrics.address() ?? {}, "metrics are served");
  return metrics;
}

const metrics = settings.metricsPort === null ? null : await serveMetrics(settings.metricsPort);

let isStopping = false;
async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  logger.info({}, "the service stops");
  server.close();
  await service.stop({ timeoutMs: STOP_MS });
  server.closeAllConnections();
  metrics?.close();
  metrics?.closeAllConnections();
  await ledger.close();
  await storage.close();
}
process.on("SIGTERM", () => void stop());
process.on("SIGINT", () => void stop());

// Said last: what waits for this line may end the process at once.
logger.info(server.address() ?? {}, "the service listens");
