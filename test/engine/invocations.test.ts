/** Promise actors, durable: armed and disarmed with their state, ended once, run again after a crash. */
import { assign, fromPromise, setup } from "xstate";
import { expect } from "vitest";
import { currentRun, workflow } from "paystate/engine";
import { gate, until } from "../kit/engine-world.ts";
import { engineTest } from "../kit/engine-test.ts";

interface Fetched {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly key: string;
}

/** A chart that fetches what it is told to, and the fetches that have begun. */
function fetcher(fetch: (fetched: Fetched) => Promise<string>, hasOnError = true) {
  const begun: Fetched[] = [];
  const chart = setup({
    types: {
      context: {} as { url: string; result: string | null; error: unknown },
      events: {} as { type: "START"; url: string } | { type: "CANCEL" },
    },
    actors: {
      fetch: fromPromise<string, { url: string }>(({ input, signal }) => {
        const fetched = { url: input.url, signal, key: currentRun().key };
        begun.push(fetched);
        return fetch(fetched);
      }),
    },
  }).createMachine({
    id: "fetcher",
    context: { url: "", result: null, error: null },
    initial: "idle",
    states: {
      idle: { on: { START: { target: "fetching", actions: assign({ url: ({ event }) => event.url }) } } },
      fetching: {
        invoke: {
          id: "fetch",
          src: "fetch",
          input: ({ context }) => ({ url: context.url }),
          onDone: { target: "done", actions: assign({ result: ({ event }) => event.output }) },
          ...(hasOnError
            ? { onError: { target: "failed", actions: assign({ error: ({ event }) => event.error }) } }
            : {}),
        },
        on: { CANCEL: "idle" },
      },
      done: { type: "final" },
      failed: { type: "final" },
    },
    output: ({ context }) => ({ result: context.result }),
  });
  return { begun, fetches: workflow(chart)({ version: 1, actors: { fetch: {} } }), chart };
}

const { test, running, settled, pass } = engineTest("invocations");

test("D7 START old, CANCEL, START new while the old promise still runs: the new value wins, the old signal was aborted", async () => {
  const gates = { old: gate<string>(), new: gate<string>() };
  const { begun, fetches } = fetcher(({ url }) => gates[url as "old" | "new"].opened);
  const { send, read } = await running(fetches, "f");
  await send(fetches, "f", { type: "START", url: "old" });
  await until(() => begun.length === 1);
  expect(begun[0]?.signal.aborted).toBe(false);
  await send(fetches, "f", { type: "CANCEL" });
  expect(begun[0]?.signal.aborted).toBe(true);
  await send(fetches, "f", { type: "START", url: "new" });
  await until(() => begun.length === 2);
  gates.old.open("old value");
  gates.new.open("new value");
  await settled();
  expect(await read("f")).toMatchObject({ status: "done", output: { result: "new value" } });
  expect(new Set(begun.map(({ key }) => key)).size, "each visit has a key of its own").toBe(2);
});

test("a rejection goes to onError, with the error", async () => {
  const { fetches } = fetcher(() => Promise.reject(new TypeError("no network")));
  const { send, read } = await running(fetches, "f");
  await send(fetches, "f", { type: "START", url: "u" });
  await settled();
  const snapshot = await read("f");
  expect(snapshot).toMatchObject({ value: "failed" });
  expect(snapshot?.context["error"]).toBeInstanceOf(TypeError);
  expect(snapshot?.context["error"]).toMatchObject({ message: "no network" });
});

test("D8 a process dies inside the promise: another runs it again under the same key, and its end is told once", async () => {
  const never = gate<string>();
  let dying = true;
  const { begun, fetches } = fetcher(() => (dying ? never.opened : Promise.resolve("second")));
  const first = await running(fetches, "f");
  await first.send(fetches, "f", { type: "START", url: "u" });
  await until(() => begun.length === 1);
  // It gives nothing back in time, as if it were frozen; its lease is given up.
  await first.stop({ timeoutMs: 0 });
  dying = false;
  const second = await running(fetches);
  await settled();
  expect(begun.map(({ key }) => key)).toEqual([begun[0]?.key, begun[0]?.key]);
  expect(await second.read("f")).toMatchObject({ output: { result: "second" } });
  never.open("first");
  await pass(60_000);
  expect(await second.read("f")).toMatchObject({ output: { result: "second" } });
});
