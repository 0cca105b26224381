/** The recovery journal in a file, the end that stands in it, and what a start makes of it. */
// modules: private
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { finishEnds } from "../../../src/payments/private/recovery/finish-ends.ts";
import { recoveryFile } from "../../../src/payments/private/recovery/journal-file.ts";
import {
  recordEnd,
  type EndLine,
  type JournalLine,
  type OrderLine,
  type RecoveryJournal,
} from "../../../src/payments/private/recovery/journal.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { storedOrder } from "./stored-order.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function freshFile(): Promise<{ readonly path: string; readonly journal: RecoveryJournal }> {
  const folder = await mkdtemp(join(tmpdir(), "paystate-"));
  ends.push(() => rm(folder, { recursive: true }));
  const path = join(folder, "orders.jsonl");
  return { path, journal: recoveryFile(path) };
}

const idOf = (digit: string): string => `tx_${digit.repeat(32)}`;

function orderLine(id: string): OrderLine {
  return {
    id,
    masterVersion: 1,
    createdAt: 5,
    layout: 1,
    sender: SOL_MINT,
    mint: SOL_MINT,
    chunks: 2,
    rentPerByte: "6960",
    windowEnds: 9,
  };
}

async function linesOf(journal: RecoveryJournal): Promise<readonly JournalLine[]> {
  const lines: JournalLine[] = [];
  for await (const line of journal.read()) lines.push(line);
  return lines;
}

const cancelled = (id: string): EndLine => ({ id, status: "cancelled", reason: null });
const failed = (id: string): EndLine => ({ id, status: "failed", reason: "DEPOSIT_TIMEOUT" });

test("a journal in a file has one line for each order and end, survives a torn line, and names a line that is none", async () => {
  const { path, journal } = await freshFile();
  expect(await linesOf(journal)).toEqual([]);
  const lines = ["1", "2", "3"].map((digit) => orderLine(idOf(digit)));
  await Promise.all(lines.map((line) => journal.write(line)));
  const read = await linesOf(journal);
  expect(new Set(read)).toEqual(new Set(lines));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await writeFile(path, `${await readFile(path, "utf8")}\n{"id":"tx_`);
  await journal.write(cancelled(idOf("1")));
  expect(await linesOf(journal)).toEqual([...read, cancelled(idOf("1"))]);
  await writeFile(path, `{"id":"tx_1"}\n`);
  await expect(linesOf(journal)).rejects.toThrow("line 1 is no line of a recovery journal");
  await writeFile(path, "tx_1\n");
  await expect(linesOf(journal)).rejects.toThrow("line 1 is no line of a recovery journal");
  const nowhere = recoveryFile(join(path, "x"));
  await expect(nowhere.write(cancelled(idOf("1")))).rejects.toThrow("ENOTDIR");
});

test("C74: zeros that a failure of power has left behind the last line keep no start from reading the others", async () => {
  const { path, journal } = await freshFile();
  await journal.write(orderLine(idOf("1")));
  await writeFile(path, `${await readFile(path, "utf8")}${"\0".repeat(200)}`);
  await journal.write(cancelled(idOf("1")));
  await writeFile(path, `${await readFile(path, "utf8")}\n{"id":"tx_${"\0".repeat(70_000)}`);
  expect(await linesOf(journal)).toEqual([orderLine(idOf("1")), cancelled(idOf("1"))]);
  expect(await journal.endOf(idOf("1"))).toEqual(cancelled(idOf("1")));
});

test("the first end of an order is found however much was written since, and none of another", async () => {
  const { journal, path } = await freshFile();
  expect(await journal.endOf(idOf("1"))).toBe(null);
  await journal.write(orderLine(idOf("1")));
  await journal.write(failed(idOf("1")));
  const others = Array.from({ length: 3_000 }, (_, n) => orderLine(`tx_${String(n).padStart(32, "0")}`));
  const text = others.map((line) => `\n${JSON.stringify(line)}\n`).join("");
  await writeFile(path, `${await readFile(path, "utf8")}${text}`);
  await journal.write(cancelled(idOf("1")));
  await journal.write(cancelled(idOf("2")));
  expect(await journal.endOf(idOf("1"))).toEqual(failed(idOf("1")));
  expect(await journal.endOf(idOf("2"))).toEqual(cancelled(idOf("2")));
  expect(await journal.endOf(idOf("3"))).toBe(null);
  expect(await journal.endOf(others[1]?.id ?? "")).toBe(null);
});

test("C52: an end that stands in the journal is the one that is told, whatever a database that was set back wants to tell", async () => {
  const { journal } = await freshFile();
  const parts = { journal, clock: virtualClock() };
  expect(await recordEnd(parts, idOf("1"), { status: "cancelled", reason: null })).toEqual(
    cancelled(idOf("1")),
  );
  expect(await recordEnd(parts, idOf("1"), { status: "failed", reason: "DEPOSIT_TIMEOUT" })).toEqual(
    cancelled(idOf("1")),
  );
  expect(await linesOf(journal)).toEqual([cancelled(idOf("1"))]);
});

test("an end is told to nobody while the journal does not answer", async () => {
  const clock = virtualClock();
  let wasAsked: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    wasAsked = resolve;
  });
  const write = (): Promise<never> => {
    wasAsked();
    return new Promise(() => {});
  };
  const told = recordEnd(
    { journal: { endOf: async () => null, write }, clock },
    idOf("1"),
    cancelled(idOf("1")),
  );
  const outcome = told.catch((error: unknown) => error);
  await asked;
  clock.advance(10_000);
  expect(await outcome).toMatchObject({ message: "recovery did not end within 10000 ms" });
});

test("C31: a start ends an open order short of paying as its first line says, and no other", async () => {
  const { journal } = await freshFile();
  const storage = await memoryStorage();
  const states = ["waiting", "deciding", "refusing", "paying", "over"] as const;
  const orders = states.map((state, n) => storedOrder(String(n + 1), { state }));
  await storage.commit([{ writes: orders.map((insert) => ({ table: "orders", insert })) }]);
  for (const { id } of orders) await journal.write(cancelled(id));
  await journal.write(failed(orders[0]?.id ?? ""));
  await journal.write(cancelled(idOf("9")));
  const sent: unknown[] = [];
  const send = async (id: string, event: unknown): Promise<void> => {
    sent.push([id, event]);
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  await finishEnds({ storage, journal, log, send });
  const line = { type: "LINE_STANDS", status: "cancelled", reason: null };
  expect(sent).toEqual([1, 2, 3].map((n) => [idOf(String(n)), line]));
});
