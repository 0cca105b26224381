/** Without a logger, warnings and errors go to stderr, redacted, and nothing else does. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEngine } from "paystate/engine";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { stderrLogger } from "../../src/core/stderr-logger.ts";
import { job } from "../engine/job.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

let written: string[];

beforeEach(() => {
  written = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});

afterEach(() => vi.restoreAllMocks());

test("an engine without a logger writes a failing effect to stderr, without what looks like a secret", async () => {
  const jobs = job(async () => {
    throw new Error("refused by https://rpc.example/?api-key=abcdef0123456789");
  });
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [jobs],
    clock: virtualClock(),
  });
  engine.run();
  await engine.start(jobs, { id: "j", input: { id: "j" } });
  await engine.settled();
  await engine.stop();
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(
    /^warn a task failed and will be tried again \{"task":"j:[0-9a-v]+:0".*refused by.*\}\n$/,
  );
  expect(written[0]).not.toContain("abcdef0123456789");
});

test("an engine with a logger writes nothing itself", async () => {
  const jobs = job(async () => {
    throw new Error("no paper");
  });
  const told: string[] = [];
  const tell = (_fields: object, message: string): void => void told.push(message);
  const logger = { debug: tell, info: tell, warn: tell, error: tell };
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [jobs],
    clock: virtualClock(),
    logger,
  });
  engine.run();
  await engine.start(jobs, { id: "j", input: { id: "j" } });
  await engine.settled();
  await engine.stop();
  expect(told).toEqual(["a task failed and will be tried again"]);
  expect(written).toEqual([]);
});

test("warnings and errors are lines of their own; debug and info are said with debug alone", () => {
  const say = (debug: boolean): void => {
    const log = stderrLogger(debug);
    log.debug({}, "d");
    log.info({ n: 1n }, "i");
    log.warn({ err: new Error("outer", { cause: new Error("inner") }) }, "w");
    log.error({}, "e");
  };
  say(false);
  expect(written).toEqual(['warn w {"err":"outer: inner"}\n', "error e {}\n"]);
  written = [];
  say(true);
  expect(written.map((line) => line.split(" ")[0])).toEqual(["debug", "info", "warn", "error"]);
  expect(written[1]).toBe('info i {"n":"1"}\n');
});
