/** Pages that are followed: server-sent events that resume, in one process and over several on one database. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { createEngine } from "../../src/engine/index.ts";
import { changesOf, piecesOf, type PageChange } from "../../src/inspector/live/page-pieces.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { parcels } from "./parcel.ts";
import { parcelTest as test } from "./parcel-test.ts";
import { AT } from "./viewer.ts";
import { eventually } from "../kit/eventually.ts";

/** A page as a stream brings a browser to it. */
interface StreamedPage {
  readonly id: string;
  readonly main: string;
  /** Characters of its event. */
  readonly size: number;
}

type Sent = { readonly main: string } | { readonly changes: readonly PageChange[] };

/** The pages of a stream, one by one. */
async function* eventsOf(answer: Response): AsyncGenerator<StreamedPage> {
  let pieces: readonly string[] = [];
  const taken = (sent: Sent): string => {
    pieces = "main" in sent ? piecesOf(sent.main) : rebuilt(pieces, sent.changes);
    return pieces.join("");
  };
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const next = await reader?.read();
      if (next === undefined || next.done) return;
      text += next.value;
      let end = text.indexOf("\n\n");
      while (end >= 0) {
        const [, id = "", data = ""] = /^id: (.*)\nevent: page\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        if (id !== "") yield { id, main: taken(JSON.parse(data) as Sent), size: data.length };
        text = text.slice(end + 2);
        end = text.indexOf("\n\n");
      }
    }
  } finally {
    await reader?.cancel();
  }
}

const rebuilt = (before: readonly string[], changes: readonly PageChange[]): readonly string[] =>
  changes.flatMap((each) => (typeof each === "string" ? [each] : before.slice(each[0], each[0] + each[1])));

const live = (page: string, more: Readonly<Record<string, string>> = {}): string =>
  `${AT}/live?${new URLSearchParams({ page, ...more }).toString()}`;

const valueOf = <T>({ value }: IteratorResult<T>): T => value as T;

test("any page is made of any other by what is told to differ", () => {
  const row = fc.constantFrom("<tr a>", "<tr b>1", "<section>", "text", "<track>", "</tr>", "\n");
  const page = fc.array(row, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(page, page, (one, other) => {
      const [before, after] = [piecesOf(one), piecesOf(other)];
      expect(rebuilt(before, changesOf(before, after)).join("")).toBe(other);
    }),
  );
});

test("of an instance with hundreds of steps a step sends its own row, and what the head of the page says", async ({
  world: { engine, workflow, storage, clock },
}) => {
  const { fetch } = createInspector({ storage, workflows: [workflow], clock });
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const step = (count: number) => engine.send(workflow, "p1", { type: count % 2 === 0 ? "PAUSE" : "RESUME" });
  for (let count = 0; count < 200; count++) await step(count);
  const events = eventsOf(await fetch(new Request(live("/instance?id=p1"))));
  const whole = valueOf(await events.next());
  expect(whole.main.match(/<tr\s+data-key="row-/g)).toHaveLength(100);
  await step(200);
  const next = valueOf(await events.next());
  expect(next.main).toContain('id="step-202"');
  expect(next.main).toBe(
    (await (await fetch(new Request(`${AT}/instance?id=p1`))).text()).split(/<main[^>]*>|<\/main>/)[1],
  );
  expect(next.size).toBeLessThan(whole.size / 5);
  await events.return(undefined);
});

test("a stream begins with the page as it is, tells each change once, and goes on where it was left", async ({
  world: { engine, workflow, storage, clock },
}) => {
  const { fetch } = createInspector({ storage, workflows: [workflow], clock });
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const answer = await fetch(new Request(live("/instance?id=p1")));
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const events = eventsOf(answer);
  const first = valueOf(await events.next());
  expect(first.main).not.toContain("PAUSE</code></summary>");
  await engine.send(workflow, "p1", { type: "PAUSE" });
  const second = valueOf(await events.next());
  expect(second.main).toContain("PAUSE</code></summary>");
  await events.return(undefined);
  // What the browser has is not sent again: the next event is the next change.
  const resumed = eventsOf(
    await fetch(new Request(live("/instance?id=p1"), { headers: { "last-event-id": second.id } })),
  );
  const next = resumed.next();
  await engine.send(workflow, "p1", { type: "RESUME" });
  expect(valueOf(await next).main).toContain("RESUME</code></summary>");
  await resumed.return(undefined);
});

test("the page that is followed is the one whose address was typed, question marks and all", async ({
  world: { engine, workflow, storage, clock },
}) => {
  const { fetch } = createInspector({ storage, workflows: [workflow], clock });
  for (const id of ["p1", "p1?b"]) await engine.start(workflow, { id, input: { note: "x" } });
  const typed = await (await fetch(new Request(`${AT}/instance?id=p1?b`))).text();
  const events = eventsOf(await fetch(new Request(live("/instance?id=p1?b"))));
  expect(typed).toContain(valueOf(await events.next()).main);
  await events.return(undefined);
});

test("what another process commits on the same file is told, too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "paystate-"));
  const mine = await sqliteStorage(join(folder, "parcels.db"));
  const theirs = await sqliteStorage(join(folder, "parcels.db"));
  const workflow = parcels();
  const engine = createEngine({
    storage: theirs,
    workflows: [workflow],
    clock: virtualClock(),
    logger: silentLogger,
  });
  const { fetch } = createInspector({ storage: mine, workflows: [workflow] });
  const events = eventsOf(await fetch(new Request(live(""))));
  expect(valueOf(await events.next()).main).toContain("No instance has been started yet.");
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  expect(valueOf(await events.next()).main).toContain("<code>p1</code>");
  await events.return(undefined);
  await mine.close();
  await theirs.close();
  await rm(folder, { recursive: true });
});

test("a browser that does not read keeps no page but the newest waiting, and then gets that one", async ({
  world: { engine, workflow, storage, clock },
}) => {
  const { fetch } = createInspector({ storage, workflows: [workflow], clock });
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const slow = await fetch(new Request(live("/instance?id=p1")));
  const quick = eventsOf(await fetch(new Request(live("/instance?id=p1"))));
  const seen = [valueOf(await quick.next())];
  for (let step = 2; step <= 8; step++) {
    await engine.send(workflow, "p1", { type: step % 2 === 0 ? "PAUSE" : "RESUME" });
    seen.push(valueOf(await quick.next()));
  }
  await quick.return(undefined);
  const late = eventsOf(slow);
  expect(valueOf(await late.next()).id).toBe(seen.at(-1)?.id);
  await late.return(undefined);
});

test("viewers come and go by hundreds: none is left behind, and one too many is told so", async ({
  world: { workflow, storage, clock },
}) => {
  const { fetch } = createInspector({ storage, workflows: [workflow], clock });
  const open = async (index: number): Promise<Response> =>
    // Also where it is asked under ever other paths.
    fetch(new Request(live(`/?before=1:${index}`).replace("/_inspector", `/at-${index}/_inspector`)));
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => open(index)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 200));
    expect((await open(200)).status).toBe(503);
    for (const { body } of answers) await body?.cancel();
  }
});

test("a storage that is gone is reported once, and the page goes on when it is back", async ({
  world: { engine, workflow, storage, clock },
}) => {
  let isGone = true;
  const errors: unknown[] = [];
  const none = (): void => {};
  const logger = {
    debug: none,
    info: none,
    warn: none,
    error: (fields: object) => void errors.push(fields),
  };
  const load = async (id: string) => (isGone ? Promise.reject(new Error("gone")) : storage.load(id));
  const inspected = { ...storage, load, history: storage.history, tasks: storage.tasks };
  const { fetch } = createInspector({ storage: inspected, workflows: [workflow], clock, logger });
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const events = eventsOf(await fetch(new Request(live("/instance?id=p1"))));
  const first = events.next();
  await eventually(() => expect(errors).toHaveLength(1));
  isGone = false;
  expect(valueOf(await first).main).toContain("p1");
  await events.return(undefined);
  expect(errors).toHaveLength(1);
});

test("a stream is judged like a page: another site gets none, nor does a name that only leads here", async ({
  world: { workflow, storage },
}) => {
  const { fetch } = createInspector({ storage, workflows: [workflow] });
  const foreign = { headers: { "sec-fetch-site": "cross-site" } };
  expect((await fetch(new Request(live(""), foreign))).status).toBe(403);
  expect((await fetch(new Request(live("").replace("127.0.0.1", "evil.example")))).status).toBe(403);
});
