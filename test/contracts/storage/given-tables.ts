/** The storage contract on tables that a caller brings: installed once, migrated, refused, written and read. */
import assert from "node:assert/strict";
import { defineTable, type AnyTable } from "../../../storage/table.ts";
import { commitOne } from "../../../storage/decided.ts";
import type { AnyWrite, EngineStorage } from "../../../storage/storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { range, startOf, stepOf } from "./samples.ts";

const orders = defineTable("tickets", {
  columns: {
    number: "text",
    version: "integer",
    customer: "text",
    shop: "text?",
    placedAt: "integer",
    total: "amount",
    isGift: "boolean",
    receipt: "bytes?",
    lines: "json",
  },
  key: "number",
  unique: ["placedAt"],
  indexes: {
    ofCustomer: ["customer", "placedAt"],
    ofShop: ["shop", "customer"],
    gifts: { on: ["customer"], where: { isGift: true }, present: ["shop"] },
  },
});

const marks = defineTable("marks", {
  columns: { id: "text", list: "text", at: "integer" },
  indexes: { ofList: ["list"], inTime: ["list", "at"] },
});

const visits = defineTable("visits", {
  columns: { id: "text", page: "text?", since: "integer?", isNew: "boolean?" },
  indexes: { ofPage: ["page"], inTime: ["page", "since"], whetherNew: ["isNew", "id"] },
  unique: ["since"],
});

/** A window whose time has the name that a commit has for its beginning. */
const stays = defineTable("stays", {
  columns: { id: "text", guest: "text?", since: "integer" },
  group: { by: ["guest"], since: "since" },
});

/** Amounts that count while they are open. */
const loans = defineTable("loans", {
  columns: { id: "text", by: "text?", amount: "amount", openSince: "integer", endedAt: "integer?" },
  indexes: { ofBorrower: ["by", "endedAt"] },
  group: { by: ["by"], open: "endedAt", sum: "amount" },
});

/** Amounts that count in a window. */
const tips = defineTable("tips", {
  columns: { id: "text", by: "text", at: "integer", amount: "amount" },
  indexes: { inTime: ["by", "at"] },
  group: { by: ["by"], since: "at", sum: "amount" },
});

type Order = NonNullable<typeof orders.row>;

const orderOf = (number: string, changes: Partial<Order> = {}): Order => ({
  number,
  version: 1,
  customer: "ann",
  shop: null,
  placedAt: Number(number),
  total: 1n,
  isGift: false,
  receipt: null,
  lines: [],
  ...changes,
});

const placing = (number: string, changes: Partial<Order> = {}): AnyWrite => ({
  table: "tickets",
  insert: orderOf(number, changes),
});

async function commits(storage: EngineStorage, ...writes: readonly AnyWrite[]): Promise<boolean> {
  const [result] = await storage.commit([{ writes }]);
  assert.ok(result);
  return result.ok;
}

/** Handles as a caller has them who knows no payments. */
interface Bare {
  readonly storage: EngineStorage;
  readonly other: EngineStorage;
  reopen(): Promise<EngineStorage>;
}

const given = (name: string, holds: (handles: Bare) => Promise<void>): StorageContractCase =>
  promise(name, holds);

const numbers = (rows: readonly Order[]): string[] => rows.map(({ number }) => number);
const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

/** That a table is refused, and with which code. */
const refuses = (storage: EngineStorage, code: string, ...tables: readonly AnyTable[]): Promise<void> =>
  assert.rejects(storage.install(tables), (error: Error & { readonly code?: string }) => {
    assert.equal(error.code, code);
    return true;
  });

const rows: readonly StorageContractCase[] = [
  given("a row of a table of the caller's comes back as it went in, every kind", async (handles) => {
    const { storage, other, reopen } = handles;
    for (const each of [storage, other]) await each.install([orders]);
    const full = orderOf("7", {
      shop: "ünï 'quoted' 💸",
      placedAt: Number.MAX_SAFE_INTEGER,
      total: 2n ** 200n,
      isGift: true,
      receipt: Uint8Array.from({ length: 256 }, (_, byte) => byte),
      lines: [{ item: "tea", price: 2n ** 64n, tags: ["a", null, true, 0.5] }, "", {}],
    });
    assert.ok(await commits(storage, placing("7", full), placing("8")));
    assert.deepEqual(await other.find({ table: orders, key: "7" }), [full]);
    assert.deepEqual(await other.find({ table: orders, key: "8" }), [orderOf("8")]);
    assert.deepEqual(await other.find({ table: orders, key: "9" }), []);
    const again = await reopen();
    await again.install([orders]);
    assert.deepEqual(await again.find({ table: orders, key: "7" }), [full]);
  }),
  given("a write that is wrong for its table is refused or fails, and leaves no trace", async (handles) => {
    const { storage } = handles;
    await storage.install([orders]);
    assert.ok(await commits(storage, placing("1")));
    assert.equal(await commits(storage, placing("2"), placing("1")), false, "its key is taken");
    assert.equal(await commits(storage, placing("3", { placedAt: 1 })), false, "a unique field is taken");
    assert.equal(
      await commits(storage, { table: "tickets", id: "1", set: { shop: "x" }, expectedVersion: 2 }),
      false,
    );
    for (const insert of [
      { ...orderOf("4"), total: 4 },
      { ...orderOf("4"), placedAt: 0.5 },
      { ...orderOf("4"), lines: new Date(0) },
      { number: "4" },
    ]) {
      await assert.rejects(commitOne(storage, { writes: [{ table: "tickets", insert }] }));
    }
    await assert.rejects(commitOne(storage, { writes: [{ table: "absent", insert: { id: "x" } }] }));
    assert.deepEqual(await storage.find({ table: orders }), [orderOf("1")]);
    assert.ok(await commits(storage, { table: "tickets", id: "1", set: { shop: "x" }, expectedVersion: 1 }));
    assert.deepEqual(await storage.find({ table: orders, key: "1" }), [
      orderOf("1", { shop: "x", version: 2 }),
    ]);
  }),
  given("G1: a row is committed together with a step, or neither is", async ({ storage }) => {
    await storage.install([orders]);
    await storage.commit([{ starts: [startOf("i")] }]);
    const together = (version: number, number: string) =>
      storage.commit([{ step: stepOf("i", version), writes: [placing(number)] }]);
    assert.deepEqual(await together(9, "1"), [{ ok: false, conflict: "step" }]);
    assert.deepEqual(await storage.find({ table: orders, key: "1" }), []);
    assert.deepEqual(await together(1, "1"), [{ ok: true }]);
    assert.deepEqual(await together(2, "1"), [{ ok: false, conflict: "write", index: 0 }]);
    assert.equal((await storage.load("i"))?.version, 2);
  }),
];

const reads: readonly StorageContractCase[] = [
  given("rows are found by an index, in its order, from a place, in both directions", async ({ storage }) => {
    await storage.install([orders]);
    await commits(storage, placing("3"), placing("1"), placing("2"), placing("9", { customer: "bob" }));
    const ofAnn = { table: orders, index: "ofCustomer", equals: { customer: "ann" } } as const;
    const all = (query: object) => storage.find({ ...ofAnn, ...query }).then(numbers);
    assert.deepEqual(await all({}), ["1", "2", "3"]);
    assert.deepEqual(await all({ order: "desc" }), ["3", "2", "1"]);
    assert.deepEqual(await all({ limit: 2 }), ["1", "2"]);
    assert.deepEqual(await all({ after: [1] }), ["2", "3"]);
    assert.deepEqual(await all({ after: [3], order: "desc", limit: 1 }), ["2"]);
    assert.deepEqual(await all({ beyond: "2" }), ["3"]);
    assert.deepEqual(await all({ beyond: "2", order: "desc" }), ["1"]);
    assert.deepEqual(await all({ beyond: "9" }), [], "a row of another's list");
    assert.deepEqual(await all({ beyond: "0" }), [], "no row at all");
    assert.deepEqual(numbers(await storage.find({ table: orders, index: "key" })), ["1", "2", "3", "9"]);
    assert.deepEqual(numbers(await storage.find({ table: orders, index: "key", after: ["2"] })), ["3", "9"]);
    assert.deepEqual(numbers(await storage.find({ table: orders })), ["3", "1", "2", "9"]);
    assert.deepEqual(
      numbers(await storage.find({ table: orders, index: "placedAt", equals: { placedAt: 2 } })),
      ["2"],
    );
  }),
  given("rows that have one of several values are found in one read, each once", async ({ storage }) => {
    await storage.install([orders]);
    await commits(storage, placing("3"), placing("1", { shop: "s" }), placing("2", { customer: "bob" }));
    const read = (query: object) => storage.find({ table: orders, ...query }).then(numbers);
    assert.deepEqual(await read({ anyOf: ["number", ["2", "9", "3", "3"]] }), ["3", "2"]);
    assert.deepEqual(await read({ anyOf: ["number", ["3", "2"]], index: "key", limit: 1 }), ["2"]);
    assert.deepEqual(await read({ anyOf: ["customer", ["ann", "\"'"]], index: "key" }), ["1", "3"]);
    assert.deepEqual(
      await read({ anyOf: ["shop", ["s"]], index: "ofCustomer", equals: { customer: "ann" } }),
      ["1"],
    );
    assert.deepEqual(await read({ anyOf: ["number", []] }), []);
    const many = range(3_000).map((n) => `none ${n}`);
    assert.deepEqual(await read({ anyOf: ["number", [...many, "1"]] }), ["1"]);
    assert.deepEqual(await read({ anyOf: ["number", ["\ud800", "\\ud800", "{limit}", "$anyOf", "1"]] }), [
      "1",
    ]);
    for (const field of ["lines", "receipt", "total", "lost"]) {
      await assert.rejects(read({ anyOf: [field, ["1"]] }), TypeError);
    }
    await assert.rejects(read({ anyOf: ["shop", [null]] }), TypeError);
  }),
  given(
    "rows that are equal in an index stand as they were inserted, also when they changed",
    async (handles) => {
      const { storage, other } = handles;
      for (const each of [storage, other]) await each.install([marks]);
      const mark = (id: string, at: number): AnyWrite => ({ table: "marks", insert: { id, list: "l", at } });
      await commits(storage, mark("z", 5));
      await commits(other, mark("m", 5));
      await commits(storage, mark("a", 5));
      await commits(other, mark("n", 4), { table: "marks", id: "z", set: { list: "k" } });
      await commits(storage, { table: "marks", id: "z", set: { list: "l" } });
      const list = { table: marks, index: "ofList", equals: { list: "l" } };
      assert.deepEqual(idsOf(await storage.find(list)), ["z", "m", "a", "n"]);
      assert.deepEqual(idsOf(await storage.find({ ...list, beyond: "m" })), ["a", "n"]);
      assert.deepEqual(idsOf(await storage.find({ ...list, beyond: "m", order: "desc" })), ["z"]);
      const inTime = { ...list, index: "inTime" };
      assert.deepEqual(idsOf(await other.find(inTime)), ["n", "z", "m", "a"]);
      assert.deepEqual(idsOf(await other.find({ ...inTime, order: "desc" })), ["a", "m", "z", "n"]);
      assert.deepEqual(idsOf(await other.find({ ...inTime, beyond: "z" })), ["m", "a"]);
    },
  ),
  given("null is a value to be found by, and an index of few rows holds no others", async ({ storage }) => {
    await storage.install([orders]);
    await commits(
      storage,
      placing("1"),
      placing("2", { shop: "s" }),
      placing("3", { shop: "s", isGift: true }),
    );
    await commits(storage, placing("4", { isGift: true }));
    const ofShop = (shop: string | null) =>
      storage.find({ table: orders, index: "ofShop", equals: { shop } });
    assert.deepEqual(numbers(await ofShop(null)), ["1", "4"]);
    assert.deepEqual(numbers(await ofShop("s")), ["2", "3"]);
    assert.deepEqual(numbers(await storage.find({ table: orders, index: "ofShop", after: ["a"] })), [
      "2",
      "3",
    ]);
    assert.deepEqual(numbers(await storage.find({ table: orders, index: "gifts" })), ["3"]);
    await commits(storage, { table: "tickets", id: "3", set: { shop: null } });
    assert.deepEqual(await storage.find({ table: orders, index: "gifts" }), []);
  }),
  given(
    "null stands before all values in every order, and one who reads on beyond each row misses none",
    async ({ storage }) => {
      await storage.install([visits]);
      const visit = (id: string, changes: Partial<NonNullable<typeof visits.row>>): AnyWrite => ({
        table: "visits",
        insert: { id, page: null, since: null, isNew: null, ...changes },
      });
      await commits(storage, visit("1", { isNew: true }), visit("2", { page: "x", since: 5 }));
      await commits(storage, visit("3", { since: 3, isNew: false }), visit("4", { page: "" }));
      await commits(storage, visit("5", { page: "x", isNew: true }), visit("6", { page: "x", since: 0 }));
      const expected = { ofPage: "134256", inTime: "134562", whetherNew: "246315", since: "145632" };
      for (const [index, ids] of Object.entries(expected)) {
        const ascending = idsOf(await storage.find({ table: visits, index }));
        assert.equal(ascending.join(""), ids, index);
        for (const order of ["asc", "desc"] as const) {
          const all = order === "asc" ? ascending : ascending.toReversed();
          const one = { table: visits, index, order, limit: 1 } as const;
          const read = idsOf(await storage.find(one));
          for (const beyond of all) read.push(...idsOf(await storage.find({ ...one, beyond })));
          assert.deepEqual(read, all, `${index} ${order}`);
        }
      }
    },
  ),
  given("a table may be called as another one with an ending", async ({ storage }) => {
    const names = ["keys", "keys_key", "keys_pkey", "keys_seq"];
    const tables = names.map((name) => defineTable(name, { columns: { id: "text" } }));
    await storage.install(tables);
    assert.ok(await commits(storage, ...names.map((table) => ({ table, insert: { id: table } }))));
    for (const table of tables) assert.deepEqual(idsOf(await storage.find({ table })), [table.name]);
  }),
  given("a window counts by its field, whatever that is called", async ({ storage }) => {
    await storage.install([stays]);
    const begins = (id: string, since: number, guest: string | null = "ann"): Promise<boolean> =>
      commits(storage, {
        table: "stays",
        insert: { id, guest, since },
        atMost: { count: 2, since: 0 },
      });
    assert.deepEqual(
      [await begins("a", 10), await begins("b", 20), await begins("c", 30)],
      [true, true, false],
    );
    assert.deepEqual(idsOf(await storage.find({ table: stays })), ["a", "b"]);
    const nobodys: boolean[] = [];
    for (const id of ["d", "e", "f"]) nobodys.push(await begins(id, 10, null));
    assert.deepEqual(nobodys, [true, true, false], "rows without a value are one group");
  }),
  given(
    "rows are counted and their amounts summed, beyond any integer of a database",
    async ({ storage }) => {
      await storage.install([orders]);
      await commits(storage, ...range(9).map((n) => placing(String(n), { total: 2n ** 64n - 1n })));
      const ofAnn = { table: orders, index: "ofCustomer", equals: { customer: "ann" } } as const;
      assert.deepEqual(await storage.tally(ofAnn), { count: 9, total: 0n });
      assert.deepEqual(await storage.tally({ ...ofAnn, sum: "total" }), {
        count: 9,
        total: 9n * (2n ** 64n - 1n),
      });
      assert.deepEqual(await storage.tally({ ...ofAnn, after: [6], sum: "total" }), {
        count: 2,
        total: 2n * (2n ** 64n - 1n),
      });
      const none = { ...ofAnn, equals: { customer: "bob" } };
      assert.deepEqual(await storage.tally({ ...none, sum: "total" }), { count: 0, total: 0n });
    },
  ),
  given("L4: the total of a group is that of its rows, whatever changes them", async (handles) => {
    const { storage, other } = handles;
    for (const each of [storage, other]) await each.install([loans, tips]);
    const people = ["ann", 'b "o" b', "", "ünï\n"] as const;
    const HOUR = 3_600_000;
    for (const turn of range(160)) {
      const on = turn % 2 === 0 ? storage : other;
      const [id, by] = [`l${(turn * 7) % 23}`, turn % 5 === 0 ? null : (people[turn % 4] ?? "")];
      const amount = [0n, 7n, 10n ** 9n - 1n, 2n ** 64n - 1n, 10n ** 27n - 1n][turn % 5] ?? 0n;
      const endedAt = turn % 3 === 0 ? turn : null;
      const write: AnyWrite[] = [
        { table: "loans", insert: { id, by, amount, openSince: 1, endedAt }, atMost: { total: 10n ** 28n } },
        { table: "loans", id, set: { endedAt } },
        { table: "loans", id, set: { amount, by } },
        { table: "loans", id, set: { openSince: turn } },
        { table: "loans", remove: id },
      ];
      const tip: AnyWrite = {
        table: "tips",
        insert: { id: `t${turn}`, by: by ?? "", at: (turn - 40) * 997_000, amount },
      };
      const sum = { ...tip, atMost: { total: 3n * 10n ** 27n, since: (turn - 49) * 997_000 } };
      // The last one fails the item now and then: what came before counts nothing then.
      const absent: AnyWrite = { table: "tips", remove: "absent" };
      await commits(
        on,
        write[turn % 5] ?? absent,
        turn % 4 === 0 ? sum : tip,
        ...(turn % 7 === 0 ? [absent] : []),
      );
    }
    const open = await storage.find({ table: loans });
    const sums = await storage.find({ table: tips });
    assert.ok(open.length > 3 && sums.length > 40);
    for (const by of [null, ...people]) {
      const counted = open.filter((row) => row.by === by && row.endedAt === null);
      const asked = {
        table: loans,
        index: "ofBorrower",
        equals: { by, endedAt: null },
        sum: "amount",
      } as const;
      const expected = { count: counted.length, total: counted.reduce((sum, row) => sum + row.amount, 0n) };
      assert.deepEqual(await storage.tally(asked), expected);
      assert.deepEqual(await other.tally({ ...asked, recount: true }), expected);
      for (const since of [
        -HOUR * 2,
        -HOUR,
        -5,
        -1,
        0,
        997_000 * 40,
        HOUR * 20,
        HOUR * 20 - 1,
        HOUR * 21 + 5,
      ]) {
        const within = sums.filter((row) => row.by === by && row.at > since);
        const window = {
          table: tips,
          index: "inTime",
          equals: { by: by ?? "none" },
          after: [since],
        } as const;
        assert.deepEqual(await other.tally({ ...window, sum: "amount" }), {
          count: within.length,
          total: within.reduce((sum, row) => sum + row.amount, 0n),
        });
      }
    }
  }),
  given("an amount that is summed is not negative, and has 27 digits at most", async ({ storage }) => {
    await storage.install([tips]);
    for (const amount of [-1n, 10n ** 27n]) {
      const insert = { id: "t", by: "ann", at: 1, amount };
      const [answer] = await storage.commit([{ writes: [{ table: "tips", insert }] }]);
      assert.match(String(answer?.ok === false && answer.conflict === "failed" && answer.error), /27 digits/);
    }
  }),
  given(
    "D58: a read that no index serves rejects, and so does one of a limit that is none, or of a table that is not installed",
    async (handles) => {
      const { storage } = handles;
      await storage.install([orders]);
      for (const query of [
        { index: "none" },
        { index: "ofCustomer", equals: { placedAt: 1 } },
        { index: "ofCustomer", equals: { customer: "ann", placedAt: 1, shop: "s" } },
        { index: "ofCustomer", equals: { customer: "ann" }, after: [1, 2] },
        { index: "ofCustomer", equals: { customer: "ann" }, after: ["1"] },
      ]) {
        await assert.rejects(storage.find({ table: orders, ...query }), TypeError);
        await assert.rejects(storage.tally({ table: orders, ...query }), TypeError);
      }
      for (const limit of [-1, 1.5, 2 ** 53]) {
        const expected = `${orders.name}: limit ${limit}: expected a whole number from 0`;
        await assert.rejects(storage.find({ table: orders, limit }), new TypeError(expected));
      }
      await assert.rejects(storage.tally({ table: orders, sum: "customer" }), TypeError);
      await assert.rejects(storage.find({ table: marks }), TypeError);
      await assert.rejects(storage.find({ table: marks, key: "x" }), TypeError);
    },
  ),
];

const installing: readonly StorageContractCase[] = [
  given(
    "two that begin at once install a table once, and what is installed stays as it is",
    async (handles) => {
      const { storage, other } = handles;
      await Promise.all([storage.install([orders, marks]), other.install([marks, orders])]);
      await commits(storage, placing("1"));
      await Promise.all([storage.install([orders]), other.install([orders])]);
      assert.deepEqual(await other.find({ table: orders }), [orderOf("1")]);
    },
  ),
  given(
    "a table is migrated once: rows of before get what is added and lose what is dropped",
    async (handles) => {
      const { storage, reopen } = handles;
      await storage.install([marks]);
      await commits(storage, { table: "marks", insert: { id: "old", list: "l", at: 5 } });
      const next = defineTable("marks", {
        columns: { id: "text", at: "integer", note: "text?", weight: "amount", isRead: "boolean" },
        indexes: { read: ["isRead", "at"] },
        migrations: [
          { add: { note: null, draft: "x" } },
          { drop: ["list", "draft"], add: { weight: 2n ** 70n, isRead: true } },
        ],
      });
      const again = await reopen();
      await Promise.all([again.install([next]), again.install([next])]);
      const old = { id: "old", at: 5, note: null, weight: 2n ** 70n, isRead: true };
      assert.deepEqual(await again.find({ table: next, index: "read", equals: { isRead: true } }), [old]);
      await commits(again, { table: "marks", insert: { ...old, id: "new", note: "n", isRead: false } });
      assert.deepEqual(idsOf(await again.find({ table: next })), ["old", "new"]);
      await refuses(again, "newer_schema", marks);
      assert.deepEqual(await again.find({ table: next, key: "old" }), [old]);
    },
  ),
  given(
    "a table that differs without a migration is refused, and nothing of the rest is installed",
    async (handles) => {
      const { storage } = handles;
      await storage.install([marks]);
      await commits(storage, { table: "marks", insert: { id: "x", list: "l", at: 5 } });
      const described = (kind: "text" | "integer"): AnyTable =>
        defineTable("marks", {
          columns: { id: "text", list: "text", at: kind },
          indexes: { inTime: ["at"] },
        });
      await refuses(storage, "other_table", orders, described("integer"));
      await refuses(storage, "other_table", described("text"));
      await refuses(
        storage,
        "other_table",
        defineTable("marks", {
          columns: { id: "text", list: "text", at: "integer", more: "text" },
          migrations: [{}],
        }),
      );
      await assert.rejects(storage.find({ table: orders }), TypeError);
      assert.deepEqual(await storage.find({ table: marks, key: "x" }), [{ id: "x", list: "l", at: 5 }]);
    },
  ),
];

/** Tables that the caller brings. */
export const givenTableCases: readonly StorageContractCase[] = [...rows, ...reads, ...installing];
