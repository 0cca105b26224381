/** Long values: refused with their path, warned of before, and never in the way of what is short. */
import { assign, fromPromise, sendTo, setup } from "xstate";
import { expect } from "vitest";
import { UnstorableValue, workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";

const MEGABYTE = 1_000_000;

/** Keeps what it is given; its promise answers with a text of some length. */
const store = setup({
  types: {
    input: {} as { length: number },
    context: {} as { text: string; lines: readonly { text: string }[]; error: unknown },
    events: {} as
      { type: "KEEP"; text: string } | { type: "NOTE"; text: string } | { type: "ASK"; length: number },
  },
  actors: { ask: fromPromise<string, { length: number }>(async ({ input }) => "x".repeat(input.length)) },
}).createMachine({
  id: "store",
  context: ({ input }) => ({ text: "x".repeat(input.length), lines: [], error: null }),
  initial: "open",
  on: {
    KEEP: { actions: assign({ lines: ({ context, event }) => [...context.lines, { text: event.text }] }) },
    NOTE: { actions: assign({ error: () => null }) },
  },
  states: {
    open: { on: { ASK: "asking" } },
    asking: {
      invoke: {
        src: "ask",
        input: ({ event }) => ({ length: event.type === "ASK" ? event.length : 0 }),
        onDone: "open",
        onError: { target: "open", actions: assign({ error: ({ event }) => event.error }) },
      },
    },
  },
});
const stores = workflow(store)({ version: 1 });

async function refusal(promise: Promise<unknown>): Promise<UnstorableValue> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UnstorableValue);
  return error as UnstorableValue;
}

const { test, engine, running, settled, awaitsOutside } = engineTest("value sizes");

test("D62 9 MB of a context, an event and an output are refused with the path of what is long", async () => {
  const { start, send, read, history, stopInstance } = await running(stores);
  const long = await refusal(start(stores, { id: "long", input: { length: 9 * MEGABYTE } }));
  expect(long.path).toBe("context.text");
  expect(long.message).toMatch(
    /^store@1, start of long: .* it takes 9\.00 MB as JSON, and 8\.00 MB are the most/,
  );
  expect(await read("long")).toBeNull();

  await start(stores, { id: "s", input: { length: 10 } });
  const text = "ä".repeat(4.5 * MEGABYTE);
  expect((await refusal(send(stores, "s", { type: "NOTE", text }))).path).toBe("event.text");
  await send(stores, "s", { type: "ASK", length: 9 * MEGABYTE });
  await settled();
  expect(String((await read("s"))?.context["error"])).toContain("event.output cannot be stored");

  const keep = { type: "KEEP", text: "x".repeat(3 * MEGABYTE) } as const;
  await send(stores, "s", keep);
  await send(stores, "s", keep);
  const third = send(stores, "s", keep);
  expect((await refusal(third)).path).toBe("context.lines");
  expect(await send(stores, "s", { type: "KEEP", text: "short" })).toMatchObject({ kind: "stepped" });
  expect(await stopInstance("s")).toBe("stopped");
  expect((await history("s")).length).toBeGreaterThan(0);
  awaitsOutside("s");
});

test("D62 of a run of messages only the one that is to blame is set aside, and those before and behind it arrive", async () => {
  const teller = setup({ types: { events: {} as { type: "TELL" } }, actors: { store } }).createMachine({
    id: "teller",
    invoke: { id: "kept", src: "store", input: { length: 20_000 } },
    on: {
      TELL: {
        actions: [10, 20, 90_000, 30].map((length) =>
          sendTo("kept", { type: "KEEP", text: "x".repeat(length) }),
        ),
      },
    },
  });
  const tellers = workflow(teller)({ version: 1 });
  const { run, send, read, deadLetters } = await engine(
    {
      workflows: [tellers],
      maxValueBytes: 100_000,
    },
    "t",
  );
  await send(tellers, "t", { type: "TELL" });
  run();
  await settled();
  const kept = (await read("t/kept"))?.context["lines"] as readonly { readonly text: string }[];
  expect(kept.map(({ text }) => text.length)).toEqual([10, 20, 30]);
  expect(await deadLetters()).toMatchObject([{ instance: "t/kept", kind: "message", failures: 1 }]);
  awaitsOutside("t", "t/kept");
});
