/** The invariants I10 and I11, which a database tells by itself: statuses only move forward, retries keep their pace. */
// modules: webhooks
import type { AnyWorkflow } from "../../src/engine/index.ts";
import type { TransactionStatus } from "../../src/payments/frame/tables/orders.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";

/** Where each status may lead. */
const EDGES: Readonly<Record<TransactionStatus, readonly TransactionStatus[]>> = {
  pending: ["processing", "confirmed", "completed", "failed", "cancelled"],
  processing: ["confirmed", "completed", "failed"],
  confirmed: ["completed", "failed"],
  completed: [],
  failed: [],
  cancelled: [],
};
/** What an order of private mode is told as in a state of its chart: of `over` always the same. */
const OF_AN_ORDER: Readonly<Record<string, readonly TransactionStatus[]>> = {
  waiting: ["pending"],
  deciding: ["processing"],
  refusing: ["processing"],
  closing: ["pending", "processing"],
  paying: ["processing", "confirmed"],
  over: ["completed", "failed", "cancelled"],
};
/** The least time between the starts of attempts, in milliseconds. */
const PAUSES_MS = [60_000, 300_000, 900_000, 3_600_000, 21_600_000] as const;

const HISTORY_PAGE = 100;

/** I10: one sentence per transaction whose status moved where the contract has no edge. */
export async function brokenStatuses(
  storage: Pick<PaymentStorage, "load" | "history" | "transaction">,
  workflows: readonly AnyWorkflow[],
  transactionIds: readonly string[],
): Promise<string[]> {
  const broken: string[] = [];
  for (const id of transactionIds) {
    const instance = await storage.load(id);
    const { machine } = workflows.find(({ key }) => key === instance?.workflow) ?? {};
    if (machine === undefined) return [`${id} is run by a workflow that nobody knows`];
    let told: readonly TransactionStatus[] | null = null;
    for (let after = 0; ;) {
      const rows = await storage.history(id, { after, limit: HISTORY_PAGE });
      for (const { value } of rows) {
        const statuses = statusesIn(machine, JSON.parse(value));
        if (statuses === null) return [`${id} was in a state that its chart does not have: ${value}`];
        const before: readonly TransactionStatus[] = told ?? statuses;
        const next = statuses.filter((each) =>
          before.some((one) => one === each || EDGES[one].includes(each)),
        );
        if (next.length === 0) broken.push(`I10: ${id} went from ${before.join()} to ${statuses.join()}`);
        told = next;
      }
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.version;
    }
    const shown = (await storage.transaction(id))?.transaction.status;
    if (shown === undefined || told?.includes(shown) !== true) {
      broken.push(`I10: ${id} is ${String(told?.join())} and shown as ${String(shown)}`);
    }
  }
  return broken;
}

/** The statuses of which one is told in this state; null if the chart has no such state. */
function statusesIn(machine: AnyWorkflow["machine"], value: unknown): readonly TransactionStatus[] | null {
  const [top] = typeof value === "object" && value !== null ? Object.keys(value) : [String(value)];
  const meta = machine.states[top ?? ""]?.meta as { readonly status?: TransactionStatus } | undefined;
  if (meta?.status !== undefined) return [meta.status];
  const inner = top === "undecided" ? String((value as { readonly undecided?: unknown }).undecided) : top;
  return OF_AN_ORDER[inner ?? ""] ?? null;
}

/** I11: one sentence per delivery that was attempted too often, too soon, or not to its end. */
export async function brokenDeliveries(
  storage: Pick<PaymentStorage, "deliveries" | "deliveryAttempts">,
  transactionIds: readonly string[],
): Promise<string[]> {
  const broken: string[] = [];
  for (const transactionId of transactionIds) {
    for (const { id, status, attempts } of await storage.deliveries(transactionId)) {
      // What a process left behind is logged by the next one; it is no attempt that ended.
      const ended = (await storage.deliveryAttempts(id)).filter(({ error }) => error !== "crashed");
      if (ended.length !== attempts) broken.push(`I11: ${id} counts ${attempts} attempts of ${ended.length}`);
      if (attempts > PAUSES_MS.length + 1) broken.push(`I11: ${id} was attempted ${attempts} times`);
      const isGivenUp = status === "abandoned";
      if (isGivenUp && attempts <= PAUSES_MS.length) broken.push(`I11: ${id} was given up early`);
      ended.forEach(({ number, startedAt }, index) => {
        const before = ended[index - 1];
        if (number !== index + 1) broken.push(`I11: attempt ${index + 1} of ${id} has number ${number}`);
        if (before !== undefined && startedAt - before.startedAt < (PAUSES_MS[index - 1] ?? Infinity)) {
          broken.push(
            `I11: attempt ${number} of ${id} came ${startedAt - before.startedAt} ms after the last`,
          );
        }
      });
    }
  }
  return broken;
}
