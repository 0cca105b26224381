/** `paystate/prometheus`: what this process does, as metrics of a registry of prom-client. */
import { Gauge, Histogram, type Registry } from "prom-client";
import { systemClock } from "../core/runtime.ts";
import { HealthCache, type HealthSource } from "../service/health-cache.ts";
import {
  BUCKETS_SECONDS,
  DURATIONS,
  GAUGES,
  type DurationInstrument,
  type GaugeInstrument,
} from "./instruments.ts";

export type { HealthSource } from "../service/health-cache.ts";

/** The measured service, and the registry. */
export interface PrometheusOptions {
  /** Yours; its `metrics()` is the text that Prometheus scrapes. */
  readonly registry: Registry;
  /** The service whose health becomes gauges. Without a service, for instance with an engine alone: durations only. */
  readonly service?: HealthSource;
}

/**
 * Measures all services and engines of this process until the function that it returns is called, which also takes the
 * metrics out of the registry: histograms of durations in seconds, and gauges of the service's health, read once for each
 * scrape. Names are those of `paystate/opentelemetry`, with underscores. No label holds an id, an address or a key. Throws
 * what prom-client throws when the registry has metrics of these names already.
 *
 * @example
 * ```ts
 * import { Registry } from "prom-client";
 * import { prometheusMetrics } from "paystate/prometheus";
 *
 * const registry = new Registry();
 * const stop = prometheusMetrics({ registry });
 * console.log((await registry.metrics()).includes("paystate_request_duration_seconds")); // true
 * stop();
 * ```
 */
export function prometheusMetrics({ registry, service }: PrometheusOptions): () => void {
  const ends = DURATIONS.map((each) => histogramOf(each, registry));
  const names = DURATIONS.map(({ name }) => durationName(name));
  if (service !== undefined) {
    const recent = new HealthCache(service, systemClock);
    for (const each of GAUGES) gaugeOf(each, registry, recent);
    names.push(...GAUGES.map(({ name }) => underscored(name)));
  }
  return () => {
    for (const end of ends) end();
    for (const name of names) registry.removeSingleMetric(name);
  };
}

function histogramOf(
  { name, description, labels, subscribe }: DurationInstrument,
  registry: Registry,
): () => void {
  const histogram = new Histogram({
    name: durationName(name),
    help: description,
    labelNames: [...labels],
    buckets: [...BUCKETS_SECONDS],
    registers: [registry],
  });
  return subscribe((seconds, values) => histogram.observe({ ...values }, seconds));
}

function gaugeOf(
  { name, description, labels, valuesOf }: GaugeInstrument,
  registry: Registry,
  recent: HealthCache,
): void {
  const gauge = new Gauge({
    name: underscored(name),
    help: description,
    labelNames: [...labels],
    registers: [registry],
    async collect() {
      const values = valuesOf(await recent.read());
      gauge.reset();
      for (const each of values) gauge.set({ ...each.labels }, each.value);
    },
  });
}

function durationName(name: string): string {
  return `${underscored(name)}_seconds`;
}

function underscored(name: string): string {
  return name.replaceAll(".", "_");
}
