/** What pages and bundles leave out: secrets under telling names however deep, bytes however they are written. */
import { createMachine } from "xstate";
import { expect, test } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { viewerOf } from "./viewer.ts";

const KEY = Array.from({ length: 64 }, (_, index) => (index * 37 + 11) % 256);
const WORD = "correct horse battery";

const SECRETS: Readonly<Record<string, unknown>> = {
  "a number under a telling name": { pin: { secret: 4711471147 } },
  "an object under a telling name": { apiKey: { value: WORD } },
  "a list under a telling name": { passwords: [WORD] },
  "a text beside something that JSON cannot hold": { login: { at: new Date(0), password: WORD } },
  "an object beside something that JSON cannot hold": { at: new Date(0), apiKey: { inner: { value: WORD } } },
  "a value of a map": { map: new Map([["apiKey", WORD]]) },
  "a key as a list of numbers": { pair: KEY },
  "a key as an object": { pair: Object.fromEntries(KEY.entries()) },
  "a key as bytes": { pair: Uint8Array.from(KEY) },
  "a key of a record": { [`ps_live_0011223344556677_8899aabbccddeeff`]: 1 },
  "a text behind many others": { many: "many words ".repeat(7_000), apiKey: WORD },
};

const SPELLINGS = [
  WORD,
  "4711471147",
  "8899aabbccddeeff",
  KEY.slice(2, 12).join(","),
  '"2":85',
  Buffer.from(KEY).toString("base64").slice(8, 40),
];

/** The pages and the bundle of an instance that holds this, and has been sent it. */
const textsOf = async (hidden: object): Promise<string[]> => {
  const id = `b${(count += 1)}`;
  await engine.start(box, { id, input: hidden });
  await engine.send(box, id, { type: "GO", ...hidden });
  const paths = ["/instance?id=", "/instance?step=1&id=", "/bundle?id="];
  return Promise.all(
    paths.map(async (path) =>
      (await html(path + id))
        .replaceAll("&quot;", '"')
        .replaceAll('\\"', '"')
        .replaceAll(/(?<=[[,{:])\s+|\s+(?=[\],}\d"])/g, ""),
    ),
  );
};

let count = 0;
const chart = createMachine({
  id: "box",
  context: ({ input }) => input as object,
  initial: "a",
  states: { a: { on: { GO: "b" } }, b: { on: { GO: "a" } } },
});
const box = workflow(chart)({ version: 1 });
const storage = await sqliteStorage(":memory:");
const engine = createEngine({ storage, workflows: [box], clock: virtualClock(), logger: silentLogger });
const { html } = viewerOf(createInspector({ storage, workflows: [box] }));

test.each(Object.entries(SECRETS))("%s is left out of pages and of bundles", async (_, hidden) => {
  for (const text of await textsOf(hidden as object)) {
    expect(text).toMatch(/\*\*\*|too many to be shown/);
    for (const spelling of SPELLINGS) expect(text).not.toContain(spelling);
  }
});

test("what is no secret stays: numbers, dates, lists, and names of a prototype", async () => {
  for (const text of await textsOf({ weights: [1, 2, 3], at: new Date(0), ["constructor"]: "words", n: 7 })) {
    const kept = ["1,2,3", "1970-01-01", '"constructor":"words"', '"n":7'];
    expect(kept.filter((words) => !text.includes(words))).toEqual([]);
  }
});
