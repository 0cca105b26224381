/** A chart that was edited under an unchanged version: refused at once, in words, and nothing of it is touched. */
import { assign, createMachine, fromPromise, setup, type AnyStateMachine } from "xstate";
import { describe, expect, it } from "vitest";
import { ChangedChart, workflow, type Logger } from "paystate/engine";
import { chartDifferences } from "../../src/workflow/xstate/chart-differences.ts";
import { chartText } from "../../src/workflow/xstate/chart-text.ts";
import { engineTest } from "../kit/engine-test.ts";

const between = (before: object, after: object): readonly string[] =>
  chartDifferences(
    chartText(createMachine({ id: "c", initial: "a", ...before } as never)),
    chartText(createMachine({ id: "c", initial: "a", ...after } as never)),
  );

describe("the differences between two charts", () => {
  it("name the paths of states, events, targets, guards, delays, actions and invocations", () => {
    const before = {
      states: {
        a: {
          entry: "greet",
          on: {
            PAY: { target: "b", guard: "isRich" },
            CANCEL: "b",
            NOTE: [{ target: "a" }, { target: "b" }],
          },
          after: { 60_000: "b", soon: "b" },
        },
        b: { initial: "x", states: { x: { invoke: { src: "charge", onDone: "y" } }, y: {} } },
        old: { type: "final" },
      },
    };
    const after = {
      states: {
        a: {
          entry: ["greet", "wave"],
          exit: "leave",
          on: { PAY: { target: "c", guard: "isPoor", actions: assign({}) }, STOP: "b", NOTE: "b" },
          after: { 30_000: "b", later: "c" },
        },
        b: {
          initial: "y",
          states: { x: { invoke: { src: "charge", onDone: "x" } }, y: { invoke: { src: "refund" } } },
        },
        c: { type: "final" },
      },
    };
    expect(between(before, after)).toEqual([
      'states.a.entry was "greet", is ["greet","wave"]',
      'states.a.on.PAY.target was "b", is "c"',
      'states.a.on.PAY.guard was "isRich", is "isPoor"',
      'states.a.on.PAY.actions is new: "assign"',
      'states.a.on.CANCEL is gone: "b"',
      'states.a.on.NOTE was [{"target":"a"},{"target":"b"}], is "b"',
      'states.a.on.STOP is new: "b"',
      'states.a.after.60000 is gone: "b"',
      'states.a.after.soon is gone: "b"',
      'states.a.after.30000 is new: "b"',
      'states.a.after.later is new: "c"',
      'states.a.exit is new: "leave"',
      'states.b.initial was "x", is "y"',
      'states.b.states.x.invoke.onDone was "y", is "x"',
      'states.b.states.y.invoke is new: {"src":"refund"}',
      'states.old is gone: {"type":"final"}',
      'states.c is new: {"type":"final"}',
    ]);
  });

  it("tell what is added to a list, and what is only written in another order", () => {
    expect(
      between(
        { states: { a: { tags: ["one"] } } },
        { states: { a: { tags: ["one", "two"], meta: { x: 1 } } } },
      ),
    ).toEqual(['states.a.tags.1 is new: "two"', 'states.a.meta is new: {"x":1}']);
    expect(between({ states: { a: {}, b: {} } }, { states: { b: {}, a: {} } })).toEqual([
      "its parts are written in another order",
    ]);
    expect(between({ states: { a: {} } }, { states: { a: {} } })).toEqual([]);
  });
});

/** What a logger was told, by the first line of its sentences. */
function listening(): { readonly logger: Logger; readonly errors: string[] } {
  const errors: string[] = [];
  const nothing = (): void => {};
  const logger: Logger = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (_fields, message) => void errors.push(message),
  };
  return { logger, errors };
}

const waiting = (delay: number, more: object = {}): AnyStateMachine =>
  createMachine({
    id: "wait",
    initial: "waiting",
    states: { waiting: { on: { GO: "over" }, after: { [delay]: "over" }, ...more }, over: { type: "final" } },
  } as never);

const { test, engine, running, log, storage, open, settled, pass } = engineTest("changed charts");

test("is refused with what changed and what to do, once on the log, and its instances are left alone", async () => {
  const before = workflow(waiting(60_000))({ version: 1 });
  const edited = workflow(waiting(30_000, { exit: "wave" }).provide({ actions: { wave: () => {} } }))({
    version: 1,
  });
  const writer = await engine(before, "w");
  const stored = await storage.load("w");

  const { logger, errors } = listening();
  const stranger = await running({ workflows: [edited], logger });
  await settled();
  const said =
    "the chart of wait@1 has changed under an unchanged version, and instances of it are open (w):\n" +
    '- states.waiting.after.60000 is gone: "over"\n' +
    '- states.waiting.after.30000 is new: "over"\n' +
    '- states.waiting.exit is new: "wave"\n' +
    "Raise the version and give `migrate`, or take the change back.";
  expect(errors).toEqual([said]);
  await expect(stranger.send(edited, "w", { type: "GO" })).rejects.toThrow(said);
  const refused = stranger.start(edited, { id: "other", input: undefined });
  await expect(refused).rejects.toBeInstanceOf(ChangedChart);
  expect((await stranger.list({ unknown: true })).instances.map(({ id }) => id)).toEqual(["w"]);
  await pass(59_999);
  expect(await storage.load("w")).toEqual(stored);
  expect(await storage.load("other")).toBeNull();
  // It was never claimed by the stranger either.
  expect((await writer.pending("w")).timers).toMatchObject([{ failures: 0, crashes: 0 }]);
  expect(errors).toHaveLength(1);
  writer.run();
  await pass(1);
  expect(await writer.read("w")).toMatchObject({ status: "done" });
});

test("takes the place of the old one where no instance is open, and is itself held against the next edit", async () => {
  const versions = [1, 2, 3].map((delay) => workflow(waiting(delay * 1_000))({ version: 1 }));
  const [first, second, third] = versions as [
    (typeof versions)[0],
    (typeof versions)[0],
    (typeof versions)[0],
  ];
  const before = await engine(first, "one");
  await before.send(first, "one", { type: "GO" });
  const after = await engine(second);
  expect(await after.start(second, { id: "two", input: undefined })).toEqual({ ok: true });
  const last = await engine(third);
  await expect(last.start(third, { id: "three", input: undefined })).rejects.toThrow(
    "states.waiting.after.3000 is new",
  );
  await after.stopInstance("two");
});

test("takes its parent along when a child machine has changed, and leaves other charts at work", async () => {
  const parentOf = (child: AnyStateMachine) =>
    workflow(
      setup({ actors: { child } }).createMachine({
        id: "parent",
        initial: "busy",
        states: { busy: { invoke: { src: "child", onDone: "over" } }, over: { type: "final" } },
      }),
    )({ version: 1 });
  const [first, second] = [parentOf(waiting(60_000)), parentOf(waiting(30_000))];
  const other = workflow(
    setup({ actors: { work: fromPromise(async () => "worked") } }).createMachine({
      id: "other",
      initial: "busy",
      states: { busy: { invoke: { src: "work", onDone: "over" } }, over: { type: "final" } },
    }),
  )({ version: 1 });
  const writer = await engine(first, "p");
  const stranger = await running({ workflows: [second, other] });
  await expect(stranger.start(second, { id: "q", input: undefined })).rejects.toThrow(
    "the chart of parent/child@1 has changed",
  );
  await stranger.start(other, { id: "o", input: undefined });
  await settled();
  expect(await stranger.read("o")).toMatchObject({ status: "done" });
  await writer.stopInstance("p");
  writer.run();
  await settled();
});

test("two that begin together store a chart once, and an outage at the start is tried again", async () => {
  const chart = workflow(waiting(60_000))({ version: 1 });
  const broken = await open();
  let failures = 1;
  const failing = {
    ...broken,
    find: (...asked: Parameters<typeof broken.find>) =>
      failures-- > 0 ? Promise.reject(new Error("no disk")) : broken.find(...asked),
  } as typeof broken;
  const [one, two] = [await engine(chart), await engine(chart)];
  const third = await engine({ workflows: [chart], storage: failing });
  await expect(third.start(chart, { id: "c", input: undefined })).rejects.toThrow("no disk");
  const started = await Promise.all([
    one.start(chart, { id: "a", input: undefined }),
    two.start(chart, { id: "b", input: undefined }),
    third.start(chart, { id: "c", input: undefined }),
  ]);
  expect(started).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
  const inserted = log.commits.filter(({ commit: { writes = [] } }) =>
    writes.some(
      (write: object) => "insert" in write && Object.values(write.insert as object).includes(chart.key),
    ),
  );
  expect(inserted).toHaveLength(1);
  for (const id of ["a", "b", "c"]) await one.stopInstance(id);
});
