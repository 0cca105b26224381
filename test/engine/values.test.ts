/** D6: what JSON would lose is kept exactly, or refused with its path; what JSON keeps stays plain. */
import { fromPromise, assign, setup } from "xstate";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UnstorableValue, workflow, type ChartSnapshot } from "paystate/engine";
import { snapshotFromText, snapshotToText } from "../../src/workflow/snapshot-text.ts";
import { engineTest } from "../kit/engine-test.ts";

class Card {
  readonly number: string;

  constructor(number: string) {
    this.number = number;
  }
}

const snapshotOf = (context: object): ChartSnapshot => ({
  value: "a",
  context: { ...context },
  status: "active",
});
const roundTrip = (context: object): unknown => snapshotFromText(snapshotToText(snapshotOf(context))).context;

describe("a stored snapshot", () => {
  it("any plain JSON is stored as JSON.stringify writes it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (context) => {
        // JSON itself turns -0 into 0, and reads the key __proto__ as a prototype.
        fc.pre(!/"__proto__"|\$values/.test(JSON.stringify(context)));
        const plain = JSON.parse(JSON.stringify(context)) as object;
        expect(snapshotToText(snapshotOf(plain))).toBe(JSON.stringify(snapshotOf(plain)));
        expect(roundTrip(plain)).toEqual(plain);
      }),
    );
  });

  it.each(
    Object.entries({
      Date: new Date(5),
      "an invalid Date": new Date(Number.NaN),
      Map: new Map<unknown, unknown>([[{ a: 1 }, new Set([1n])]]),
      bigint: 2n ** 70n,
      undefined: { a: undefined, b: [undefined] },
      NaN: Number.NaN,
      "minus zero": -0,
      infinity: -Infinity,
      URL: new URL("https://example.com/?a=b"),
      bytes: new Uint8Array([0, 255]),
      RegExp: /a+/gi,
      "a sparse array": [1, , 3], // eslint-disable-line no-sparse-arrays -- the hole is what is tested
      "an object that looks like ours": { $values: [1] },
      "an object without prototype": Object.assign(Object.create(null) as object, { a: 1 }),
    }),
  )("keeps %s", (_name, value) => {
    expect(roundTrip({ value })).toStrictEqual({ value });
    expect(roundTrip({ deep: [{ value }] })).toStrictEqual({ deep: [{ value }] });
  });

  it("keeps an Error with its class, message, cause and own fields", () => {
    const cause = Object.assign(new Error("inner"), { code: "ECONNREFUSED" });
    const kept = (roundTrip({ error: new TypeError("outer", { cause }) }) as { error: Error }).error;
    expect(kept).toBeInstanceOf(TypeError);
    expect(kept).toMatchObject({ message: "outer", cause: { message: "inner", code: "ECONNREFUSED" } });
    expect(kept.cause).toBeInstanceOf(Error);
    class Custom extends Error {
      override readonly name = "Custom";
    }
    const custom = (roundTrip({ error: new Custom("mine") }) as { error: Error }).error;
    expect(custom).toBeInstanceOf(Error);
    expect(String(custom)).toBe("Custom: mine");
  });

  it("D6: keeps an AggregateError, as Promise.any rejects with, and the errors in it", () => {
    const several = new AggregateError([new RangeError("far"), { code: 7 }], "all of them");
    const { kept } = roundTrip({ kept: several }) as { kept: AggregateError };
    expect(kept).toBeInstanceOf(AggregateError);
    expect(kept).toMatchObject({ message: "all of them", errors: [{ message: "far" }, { code: 7 }] });
    expect(kept.errors[0]).toBeInstanceOf(RangeError);
    expect(Object.keys(kept)).toEqual([]);
  });

  it("D6: keeps a Buffer, of the memory that it shares only its own bytes", () => {
    const { kept } = roundTrip({ kept: Buffer.from("hi") }) as { kept: Buffer };
    expect(Buffer.isBuffer(kept)).toBe(true);
    expect(kept.toString()).toBe("hi");
    expect(snapshotToText(snapshotOf({ kept: Buffer.from("hi") })).length).toBeLessThan(200);
  });

  it("D6: an object in two fields is two equal ones", () => {
    const shared = { count: 1 };
    const kept = roundTrip({ a: shared, b: shared }) as { a: object; b: object };
    expect(kept).toEqual({ a: shared, b: shared });
    expect(kept.a).not.toBe(kept.b);
  });

  class Names extends Array<string> {}
  class Index extends Map<string, number> {}
  class Day extends Date {}
  const holed = [1, , 3]; // eslint-disable-line no-sparse-arrays -- the hole is what is tested
  const global = /a/g;
  global.lastIndex = 3;

  it.each([
    ["a class of lists", Names.from(["a"]), /an instance of Names/],
    ["a class of maps", new Index([["a", 1]]), /an instance of Index/],
    ["a class of dates", new Day(0), /an instance of Day/],
    ["a list with a field", Object.assign([1, 2], { total: 3 }), /a field "total" beside/],
    ["a list with a field and a hole", Object.assign(holed, { total: 3 }), /a field "total" beside/],
    ["a date with a field", Object.assign(new Date(0), { zone: "UTC" }), /a field "zone" beside/],
    ["a map with a field", Object.assign(new Map(), { total: 3 }), /a field "total" beside/],
    ["a pattern in the middle of a search", global, /its lastIndex is not 0/],
  ])("D6: refuses %s with its path", (_name, value, reason) => {
    const act = (): unknown => roundTrip({ deep: [{ value }] });
    expect(act).toThrow(UnstorableValue);
    expect(act).toThrow(reason);
    expect(act).toThrow("context.deep[0].value cannot be stored");
  });

  it.each([
    ["a function", { a: { b: [() => {}] } }, "context.a.b[0]", /it is a function/],
    ["a symbol", { a: Symbol("s") }, "context.a", /it is a symbol/],
    ["a class", { user: { card: new Card("4242") } }, "context.user.card", /an instance of Card/],
    ["a promise", { a: Promise.resolve() }, "context.a", /an instance of Promise/],
  ])("refuses %s with its path", (_name, context, path, reason) => {
    const act = (): unknown => roundTrip(context);
    expect(act).toThrow(UnstorableValue);
    expect(act).toThrow(reason);
    expect(act).toThrow(`${path} cannot be stored`);
  });
});

const { test, engine, running, settled, awaitsOutside } = engineTest("values");

test("D6: a step sees an event as its history keeps it", async () => {
  class Refused extends Error {
    override readonly name = "Refused";
  }
  interface Seen {
    readonly type: "SEE";
    readonly absent?: undefined;
    readonly error: Error;
    readonly at: Date;
  }
  const chart = setup({ types: { context: {} as { seen: unknown[] }, events: {} as Seen } }).createMachine({
    id: "seer",
    context: { seen: [] },
    on: {
      SEE: {
        actions: assign({
          seen: ({ event }) => [Object.keys(event), event.error instanceof Refused, event.at, event.error],
        }),
      },
    },
  });
  const seers = workflow(chart)({ version: 1 });
  const one = await engine(seers, "s");
  const event: Seen = { type: "SEE", absent: undefined, error: new Refused("no"), at: new Date(7) };
  await one.send(seers, "s", event);
  const { seen } = (await one.read(seers, "s"))?.context ?? { seen: [] };
  const kept = (await one.history("s")).at(-1)?.event as unknown as Seen;
  expect(seen).toEqual([Object.keys(kept), kept.error instanceof Refused, kept.at, kept.error]);
  expect(seen.slice(0, 3)).toEqual([["type", "error", "at"], false, new Date(7)]);
  awaitsOutside("s");
});

test("D6 inputs, events and outputs keep what JSON loses, across a restart", async () => {
  const seen: unknown[] = [];
  const chart = setup({
    types: {
      context: {} as { at: Date },
      input: {} as { at: Date },
      events: {} as { type: "ADD"; amount: bigint; tags: ReadonlySet<string> },
    },
    actors: { double: fromPromise<bigint, { amount: bigint }>(async ({ input }) => input.amount * 2n) },
    actions: { see: ({ event }) => void seen.push(event) },
  }).createMachine({
    id: "keeper",
    context: ({ input }) => input,
    initial: "a",
    states: {
      a: { on: { ADD: { target: "b", actions: "see" } } },
      b: {
        invoke: {
          src: "double",
          input: ({ event }) => ({ amount: (event as { amount: bigint }).amount }),
          onDone: { target: "c", actions: "see" },
        },
      },
      c: { type: "final" },
    },
    output: ({ context }) => new Map([[context.at, 1n]]),
  });
  const keepers = workflow(chart)({ version: 1 });
  const first = await engine(keepers);
  await first.start(keepers, { id: "k", input: { at: new Date(7) } });
  await first.send(keepers, "k", { type: "ADD", amount: 2n ** 64n, tags: new Set(["x"]) });
  const second = await running(keepers);
  await settled();
  expect(await second.read("k")).toMatchObject({
    status: "done",
    context: { at: new Date(7) },
    output: new Map([[new Date(7), 1n]]),
  });
  expect(seen).toEqual([
    { type: "ADD", amount: 2n ** 64n, tags: new Set(["x"]) },
    { type: "xstate.done.actor.0.keeper.b", actorId: "0.keeper.b", output: 2n ** 65n },
  ]);
});
