/** A clock that is set back silences no endpoint. */
import { expect, test } from "vitest";
import { CallRateLimit } from "../../src/solana/rpc/call-rate-limit.ts";
import { EndpointFailure } from "../../src/solana/endpoint-failure.ts";
import { newHealth, noteFailure, restOf } from "../../src/solana/health.ts";
import { silentLogger, type Clock } from "../../src/core/runtime.ts";

const HOUR_MS = 3_600_000;

/** A clock that can be set back. */
function wallClock(): Clock & { time: number } {
  return {
    time: Date.UTC(2026, 0, 1),
    now() {
      return this.time;
    },
    sleep: async () => {},
  };
}

test("a rate limit holds no call up for the hour that the clock was set back", async () => {
  const clock = wallClock();
  const pace = new CallRateLimit(10, clock, new AbortController().signal);
  await pace.next(1);
  clock.time -= HOUR_MS;
  await expect(pace.next(1)).resolves.toBeUndefined();
  // The limit is still kept.
  const more = await Promise.allSettled(Array.from({ length: 60 }, () => pace.next(1)));
  expect(more.filter(({ status }) => status === "rejected")).toHaveLength(12);
});

test("a Retry-After ends after a minute, however far the clock was set back", () => {
  const clock = wallClock();
  const node = { name: "node", health: newHealth() };
  const asked = new EndpointFailure("http", "HTTP 429", { code: 429, retryAfterMs: 60_000 });
  noteFailure(node, { failure: asked, of: "reads" }, { clock, log: silentLogger });
  expect(restOf(node, clock.now(), "reads")).toBe(60_000);
  clock.time -= HOUR_MS;
  expect(restOf(node, clock.now(), "reads")).toBe(0);
  const again = new EndpointFailure("http", "HTTP 429", { code: 429, retryAfterMs: 2_000 });
  noteFailure(node, { failure: again, of: "reads" }, { clock, log: silentLogger });
  expect(restOf(node, clock.now(), "reads")).toBe(2_000);
});
