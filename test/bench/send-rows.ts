/** The rows that a wallet send leaves, by hand: quote, order with its signed bytes, three notices and the history. */
import type { Database } from "better-sqlite3";
import type { RowsByHand } from "./rows-by-hand.ts";

const ADDRESS = "4k54WPEGae33GTzScav4f48towzwpYJ5Bnf4qkQHVMbN";
const ACCOUNT = "acct_019b76daa8004eaf932c8c5848bafc73";
const WORKFLOW = "wallet-transfer@1";
const BYTES = Buffer.alloc(470, 7);
const AMOUNT = "1500000";
const RECIPIENTS = JSON.stringify([{ address: ADDRESS, amount: { $bigint: AMOUNT } }]);
const SIGNATURE_LETTERS = 88;
const HASH_LETTERS = 64;

/** What is called after one send. */
interface Names {
  readonly id: string;
  readonly quoteId: string;
  readonly signature: string;
  readonly at: number;
}

/** What a row holds, by its columns. */
type Values = Readonly<Record<string, string | number | null | Uint8Array>>;

/** Inserts rows, the statement of each table compiled once. */
function inserting(database: Database): (table: string, values: Values) => void {
  const statements = new Map<string, ReturnType<Database["prepare"]>>();
  return (table, values) => {
    let statement = statements.get(table);
    if (statement === undefined) {
      const columns = Object.keys(values);
      const names = columns.map((name) => `"${name}"`).join(", ");
      const marks = columns.map(() => "?").join(", ");
      statement = database.prepare(`insert into "paystate${table}" (${names}) values (${marks})`);
      statements.set(table, statement);
    }
    statement.run(Object.values(values));
  };
}

const quoteOf = ({ quoteId: id, at }: Names): Values => ({
  ...{ id, version: 1, accountId: ACCOUNT, mode: "wallet", inputMint: ADDRESS, outputMint: ADDRESS },
  ...{ inputAmount: AMOUNT, outputAmount: AMOUNT, minOutputAmount: AMOUNT, feeMint: ADDRESS },
  ...{
    networkFee: "5091",
    routingFee: "0",
    rent: "0",
    pricedAccounts: 0,
    slippageBps: 100,
    priceImpact: "0",
  },
  ...{ sender: ADDRESS, recipients: RECIPIENTS, createdAt: at, expiresAt: at + 30_000 },
});

const orderOf = ({ id, quoteId, signature, at }: Names): Values => ({
  ...{ id, accountId: ACCOUNT, quoteId, type: "send", mode: "wallet", sender: ADDRESS, mint: ADDRESS },
  ...{ feeMint: ADDRESS, requestHash: signature.slice(-HASH_LETTERS), status: "pending", signature },
  ...{ landedAfterCancel: 0, createdAt: at },
});

const recipientOf = ({ id, at }: Names): Values => ({
  ...{ id: `${id}:0`, transactionId: id, accountId: ACCOUNT, createdAt: at, index: 0 },
  ...{ address: ADDRESS, amount: AMOUNT, status: "unpaid" },
});

const attemptOf = ({ id, signature, at }: Names): Values => ({
  ...{ id: signature, messageHash: signature.slice(-HASH_LETTERS), transactionId: id, bytes: BYTES },
  ...{ blockhash: ADDRESS, lastValidBlockHeight: 1_086, firstSlot: 1_036, reference: ADDRESS, createdAt: at },
});

const broadcastOf = ({ id, at }: Names): Values => ({
  ...{ id: `${id}:0`, instance: id, workflow: WORKFLOW, kind: "effect", name: "broadcast", payload: "{}" },
  ...{ dueAt: at, visibleAt: at + 15_000, holder: "holder", token: 1, crashes: 0, failures: 0 },
});

/** A step of the order's chart, its notice, and the order's status. */
function stepping(
  database: Database,
  insert: ReturnType<typeof inserting>,
): (names: Names, version: number, value: string) => void {
  const change = database.prepare(
    "update paystateInstances set version = ?, stamp = ?, status = ?, snapshot = ?, updatedAt = ? where id = ? and stamp = ?",
  );
  const show = database.prepare("update paystateTransactions set status = ? where id = ?");
  const stampOf = (id: string, version: number): string => `${id.slice(-16)}.${version}`;
  return ({ id, signature, at }, version, value) => {
    const status = value === "completed" ? "done" : "active";
    const context = { signature, broadcastDelayMs: 0, reservations: [], reason: null, landedSignature: null };
    const snapshot = JSON.stringify({ value, context, status });
    const stamp = stampOf(id, version);
    if (version === 1) {
      const kind = { workflow: WORKFLOW, hash: "0123456789abcdef", createdAt: at, updatedAt: at };
      insert("Instances", { id, version, stamp, life: stamp, status, snapshot, ...kind });
    } else change.run(version, stamp, status, snapshot, at, id, stampOf(id, version - 1));
    const event = JSON.stringify({ type: "STEP", signature });
    insert("History", {
      instance: id,
      version,
      at,
      event,
      value: JSON.stringify(value),
      cause: "watch",
      stamp,
    });
    if (version === 1) return;
    const noticeId = `evt_${id}_${value}`;
    const told = { event: `transaction.${value}`, status: value, signature, webhooks: "[]", createdAt: at };
    insert("Notices", { id: noticeId, transactionId: id, ...told, body: `${ADDRESS} ${value} 1.5` });
    insert("Announcements", { id: noticeId, accountId: ACCOUNT, at });
    show.run(value, id);
  };
}

/** Five commits: the quote, the order, the end of its broadcast, and the two that tell of its landing. */
export const sendRows: RowsByHand = {
  commits: 5,
  prepare(database) {
    const insert = inserting(database);
    const step = stepping(database, insert);
    const use = database.prepare("update paystateQuotes set version = 2, usedBy = ? where id = ?");
    const done = database.prepare("delete from paystateTasks where id = ? and token = 1");
    const unwatch = database.prepare("delete from paystateWatches where kind = 'landing' and key = ?");
    const order = (names: Names): void => {
      const { id, signature, at, quoteId } = names;
      use.run(id, quoteId);
      insert("Transactions", orderOf(names));
      insert("Recipients", recipientOf(names));
      insert("Attempts", attemptOf(names));
      for (const way of ["in", "out"]) {
        insert("Volumes", { id: `${id}:${way}`, scope: `${ACCOUNT} ${ADDRESS} ${way}`, at, amount: AMOUNT });
      }
      step(names, 1, "accepted");
      step(names, 2, "pending");
      insert("Tasks", broadcastOf(names));
      const watched = { kind: "landing", key: signature, instance: id };
      insert("Watches", { ...watched, workflow: WORKFLOW, shard: 0, life: id });
    };
    const commits: readonly ((names: Names) => void)[] = [
      (names) => insert("Quotes", quoteOf(names)),
      order,
      ({ id }) => void done.run(`${id}:0`),
      (names) => step(names, 3, "confirmed"),
      (names) => {
        step(names, 4, "completed");
        unwatch.run(names.signature);
      },
    ];
    return (unit, commit) => {
      const tail = unit.padStart(32, "0");
      const signature = unit.padStart(SIGNATURE_LETTERS, "5");
      commits[commit - 1]?.({ id: `tx_${tail}`, quoteId: `quote_${tail}`, signature, at: Date.now() });
    };
  },
};
