/** What is measured while a payment is made, through each adapter and on the bare channels. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeAsked } from "../../src/core/diagnostics.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { createDeliveryClient } from "../../src/payments/webhooks/sending/attempt.ts";
import { DURATIONS, GAUGES } from "../../src/telemetry/instruments.ts";
import { openTelemetryMetrics } from "../../src/telemetry/opentelemetry.ts";
import { prometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { serviceFixture, type ServiceFixture } from "../kit/service-fixture.ts";

let fixture: ServiceFixture;
let registry: Registry;
const ends: (() => void)[] = [];

beforeEach(async () => {
  fixture = await serviceFixture();
  registry = new Registry();
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await fixture.close();
});

/** A payment, a request to the API, and a call to a webhook that the guard refuses. */
async function makeSomethingHappen(): Promise<{ readonly secrets: readonly string[] }> {
  const caller = await fixture.caller();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const { transactionId } = await fixture.send(caller, {
    from: alice,
    to: fixture.wallet("bob").address,
    amount: "1",
  });
  await fixture.finalize();
  const { key } = await fixture.service.issueKey({ accountId: caller.accountId, environment: "test" });
  const { fetch } = createHttpHandler({ service: fixture.service, clock: fixture.clock });
  const headers = { authorization: `Bearer ${key}` };
  await fetch(new Request(`https://pay.example/v1/transactions/${transactionId}`, { headers }));
  await fetch(new Request("https://pay.example/v1/nothing-here", { method: "BREW", headers }));
  const { attempt } = bound(createDeliveryClient({ clock: fixture.clock }));
  await attempt({ url: "https://127.0.0.1/hook", body: "{}", headers: {} }); // modules: webhooks
  return { secrets: [transactionId, key, alice.address, caller.accountId] };
}

// modules: webhooks
const bound = (delivery: ReturnType<typeof createDeliveryClient>) => ({
  attempt: delivery.attempt.bind(delivery),
});

test("Prometheus: every instrument has a value after a payment, and no label has an id, a key or an address", async () => {
  ends.push(prometheusMetrics({ registry, service: fixture.service }));
  const { secrets } = await makeSomethingHappen();
  const text = await registry.metrics();
  for (const { name } of DURATIONS) expect(text).toContain(`${name.replaceAll(".", "_")}_seconds_count{`);
  for (const { name } of GAUGES) expect(text).toMatch(new RegExp(`^${name.replaceAll(".", "_")}[ {]`, "m"));
  expect(text).toContain(
    'paystate_request_duration_seconds_count{method="GET",route="/v1/transactions/{transactionId}",status="200"} 1',
  );
  expect(text).toContain(
    'paystate_request_duration_seconds_count{method="other",route="none",status="404"} 1',
  );
  expect(text).toContain('paystate_webhook_duration_seconds_count{outcome="blocked_address"} 1'); // modules: webhooks
  expect(text).toMatch(
    /paystate_task_duration_seconds_count\{workflow="wallet-transfer@\d+",kind="effect",name="broadcast",outcome="done"\} 1/,
  );
  expect(text).toMatch(
    /paystate_node_duration_seconds_count\{endpoint="local",method="sendTransaction",outcome="answered"\} \d/,
  );
  expect(text).toContain('paystate_health{status="ok"} 1');
  for (const secret of secrets) expect(text).not.toContain(secret);
});

test("Prometheus: after its end nothing is counted, and the names are free again", async () => {
  prometheusMetrics({ registry, service: fixture.service })();
  await makeSomethingHappen();
  expect(await registry.metrics()).toBe("\n");
  prometheusMetrics({ registry, service: fixture.service })();
});

test("OpenTelemetry: the same instruments by the same names, gauges only of a service that was given", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const namesOf = async (): Promise<readonly string[]> => {
    exporter.reset();
    await provider.forceFlush();
    const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    return metrics.flatMap((scope) => scope.metrics.map(({ descriptor }) => descriptor.name)).toSorted();
  };
  const meter = provider.getMeter("paystate");
  const stop = openTelemetryMetrics({ meter });
  await makeSomethingHappen();
  const durations = DURATIONS.map(({ name }) => name);
  expect(await namesOf()).toEqual(durations.toSorted());
  stop();
  ends.push(openTelemetryMetrics({ meter, service: fixture.service }));
  // The service has signed no payment of its own.
  const gauges = GAUGES.map(({ name }) => name).filter((name) => !name.startsWith("paystate.payments."));
  expect(await namesOf()).toEqual([...durations, ...gauges].toSorted());
  await provider.shutdown();
});

test("the bare channels are Node's own; the host name is all that is shown of an endpoint", async () => {
  const heard: unknown[] = [];
  const listener = (message: unknown): void => void heard.push(message);
  subscribe(nodeAsked.name, listener);
  ends.push(() => void unsubscribe(nodeAsked.name, listener));
  await fixture.ledger.position();
  expect(heard).toContainEqual({
    endpoint: "local",
    method: expect.stringMatching(/^get\w+$/) as string,
    outcome: "answered",
    durationMs: 0,
  });
});

test("without a subscriber no message is made", () => {
  const publish = (): void =>
    nodeAsked.publish(() => {
      throw new Error("made");
    });
  expect(publish).not.toThrow();
  ends.push(nodeAsked.subscribe(() => {}));
  expect(publish).toThrow("made");
});
