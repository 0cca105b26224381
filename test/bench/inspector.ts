/** What the inspector weighs and costs: bytes of a page, a page beside many instances, and watchers beside a busy engine. */
import { gzipSync } from "node:zlib";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMachine } from "xstate";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { createInspector, type HttpHandler } from "../../src/index.ts";
import { silentLogger } from "../../src/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { inParallel, median, timed, type Report } from "./figures.ts";

const AT = "http://127.0.0.1:3210/_inspector";
const INSTANCES = 100_000;
const EVENTS = 2_000;
const PER_SECOND = 500;
const WATCHERS = 5;
/** With an inspector and without one, in turns. */
const ROUNDS = 3;

const machine = createMachine({
  id: "lamp",
  initial: "off",
  states: { off: { on: { SWITCH: "on" } }, on: { on: { SWITCH: "off" } } },
});
const lamps = workflow(machine)({ version: 1 });

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Reads a stream until `signal` aborts, and calls back with each event. */
async function follow(
  { fetch }: HttpHandler,
  page: string,
  { onEvent, signal }: { readonly onEvent: (text: string) => void; readonly signal: AbortSignal },
): Promise<void> {
  const answer = await fetch(new Request(`${AT}/live?${new URLSearchParams({ page }).toString()}`));
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  signal.addEventListener("abort", () => void reader?.cancel(), { once: true });
  for (;;) {
    const next = await reader?.read();
    if (next === undefined || next.done) return;
    onEvent(next.value);
  }
}

export async function benchInspector(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const storage = await sqliteStorage(join(folder, "lamps.db"));
  const engine = createEngine({ storage, workflows: [lamps], logger: silentLogger });
  const inspector = createInspector({ engine });
  const get = async (path: string): Promise<string> => (await inspector.fetch(new Request(AT + path))).text();
  try {
    await engine.start(lamps, { id: "first", input: undefined });
    const parts = await Promise.all(["/instance?id=first", "/style.css", "/script.js", "/icon.svg"].map(get));
    const bytes = parts.reduce((sum, part) => sum + gzipSync(part).length, 0);
    report({ name: "inspector: a page with all it loads", "gzip bytes": bytes });

    await inParallel(INSTANCES, 256, async (index) => {
      await engine.start(lamps, { id: `lamp-${String(index).padStart(6, "0")}`, input: undefined });
    });
    const { seconds } = await timed(() => get(""));
    report({ name: `inspector: list of ${INSTANCES}`, ms: seconds * 1_000 });

    const bare = createEngine({ storage, workflows: [lamps], logger: silentLogger });
    const shares: { without: number[]; unwatched: number[] } = { without: [], unwatched: [] };
    for (let round = 0; round < ROUNDS; round++) {
      shares.without.push(await sending(bare));
      shares.unwatched.push(await sending(engine));
    }
    report({
      name: "inspector: 500 events a second, nobody watches",
      "% of a core": median(shares.unwatched),
      "without an inspector": median(shares.without),
    });
    await watched(report, engine, inspector);
    // The other benches do not load a browser's driver.
    const { benchOnScreen } = await import("./inspector-browser.ts");
    await benchOnScreen(report, {
      inspector,
      step: async () => {
        await engine.send(lamps, "first", { type: "SWITCH" });
        return (await engine.read("first"))?.steps ?? 0;
      },
    });
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true });
  }
}

type LampEngine = Pick<ReturnType<typeof createEngine<unknown>>, "send">;

/** Sends events at their pace, and answers the CPU that they took, in hundredths of a core. */
async function sending({ send }: LampEngine, onSend: (index: number) => void = () => {}): Promise<number> {
  const began = performance.now();
  const before = process.cpuUsage();
  for (let index = 0; index < EVENTS; index++) {
    const due = began + (index * 1_000) / PER_SECOND;
    const early = due - performance.now();
    if (early > 1) await wait(early);
    onSend(index);
    await send(lamps, index % 2 === 0 ? "first" : "lamp-000001", { type: "SWITCH" });
  }
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1_000 / (performance.now() - began)) * 100;
}

async function watched(report: Report, engine: LampEngine, inspector: HttpHandler): Promise<void> {
  const isOver = new AbortController();
  const { signal } = isOver;
  const delays: number[] = [];
  let sentAt: number | null = null;
  const onEvent = (text: string): void => {
    if (sentAt === null || !text.includes("event: page")) return;
    delays.push(performance.now() - sentAt);
    sentAt = null;
  };
  const pages = ["/instance?id=first", "/instance?id=first", "/instance?id=lamp-000001", "", ""];
  const following = pages
    .slice(0, WATCHERS)
    .map((page, index) => follow(inspector, page, { onEvent: index === 0 ? onEvent : () => {}, signal }));
  await wait(500);
  const share = await sending(engine, (index) => {
    if (index % 20 === 0) sentAt ??= performance.now();
  });
  isOver.abort();
  await Promise.all(following);
  const ordered = delays.toSorted((a, b) => a - b);
  report({
    name: "inspector: the same, five watchers",
    "% of a core": share,
    "event to stream, p50 ms": ordered[Math.floor(ordered.length * 0.5)],
    "p95 ms": ordered[Math.floor(ordered.length * 0.95)],
  });
}
