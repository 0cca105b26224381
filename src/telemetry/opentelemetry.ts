/** `paystate/opentelemetry`: what this process does, as instruments of a meter of OpenTelemetry. */
import type { BatchObservableResult, Meter, ObservableGauge } from "@opentelemetry/api";
import { systemClock } from "../core/runtime.ts";
import { HealthCache, type HealthSource } from "../service/health-cache.ts";
import { BUCKETS_SECONDS, DURATIONS, GAUGES, type GaugeInstrument } from "./instruments.ts";

export type { HealthSource } from "../service/health-cache.ts";

/** The measured service, and the meter. */
export interface OpenTelemetryOptions {
  /** From your MeterProvider: `metrics.getMeter("paystate")`. */
  readonly meter: Meter;
  /** The service whose health becomes gauges. Without a service, for instance with an engine alone: durations only. */
  readonly service?: HealthSource;
}

/**
 * Measures all services and engines of this process until the function that it returns is called: histograms of durations
 * in seconds, and gauges of the service's health, read once for each collection. No label holds an id, an address or a
 * key. Costs nothing where it is not called.
 *
 * @example
 * ```ts
 * import { metrics } from "@opentelemetry/api";
 * import { openTelemetryMetrics } from "paystate/opentelemetry";
 *
 * const stop = openTelemetryMetrics({ meter: metrics.getMeter("paystate") });
 * stop();
 * ```
 */
export function openTelemetryMetrics({ meter, service }: OpenTelemetryOptions): () => void {
  const ends = DURATIONS.map(({ name, description, subscribe }) => {
    const advice = { explicitBucketBoundaries: BUCKETS_SECONDS };
    const histogram = meter.createHistogram(name, { description, unit: "s", advice });
    return subscribe((seconds, labels) => histogram.record(seconds, labels));
  });
  if (service !== undefined) ends.push(observe(meter, service));
  return () => ends.forEach((end) => end());
}

function observe(meter: Meter, service: HealthSource): () => void {
  const recent = new HealthCache(service, systemClock);
  const gauges = new Map<GaugeInstrument, ObservableGauge>(
    GAUGES.map((each) => [each, meter.createObservableGauge(each.name, { description: each.description })]),
  );
  const observables = [...gauges.values()];
  const collect = async (result: BatchObservableResult): Promise<void> => {
    const health = await recent.read();
    for (const [{ valuesOf }, gauge] of gauges) {
      for (const { value, labels } of valuesOf(health)) result.observe(gauge, value, labels);
    }
  };
  meter.addBatchObservableCallback(collect, observables);
  return () => meter.removeBatchObservableCallback(collect, observables);
}
