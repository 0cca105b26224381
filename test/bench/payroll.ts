/** A private payroll of 500 people without token accounts: how many transactions, how long, and what it asks of the chain. */
import { randomBytes } from "node:crypto";
import bs58 from "bs58";
import { privateKeyOf, publicKeyOf } from "../../src/ed25519.ts";
import { timed, type Report } from "./figures.ts";
import { callList, cpuTime, perPayment } from "./ledger-calls.ts";
import { longestTurn } from "./longest-turn.ts";
import { privateWorld } from "./private-world.ts";

const RECIPIENTS = 500;
const SEED_BYTES = 32;
const SLOT_MS = 100;
const POLL_MS = 250;

const freshAddress = (): string => bs58.encode(publicKeyOf(privateKeyOf(randomBytes(SEED_BYTES))));

/** From the deposit's landing until everybody is paid for good. The sweeps come an hour and a quarter later. */
export async function benchPayroll(report: Report): Promise<void> {
  const world = await privateWorld({ slotMs: SLOT_MS, pollMs: POLL_MS });
  try {
    const to = Array.from({ length: RECIPIENTS }, () => ({ address: freshAddress(), amount: "0.01" }));
    const start = cpuTime();
    const { seconds: taking, result } = await timed(() => longestTurn(() => world.order(to)));
    const { result: order, ms, cpuMs } = result;
    const takingCpu = cpuTime() - start;
    report({
      name: `payroll of ${RECIPIENTS}, quote and order`,
      seconds: taking,
      "CPU ms": takingCpu / 1_000,
      calls: world.calls.length,
      "longest turn ms": ms,
      "longest turn CPU ms": cpuMs,
    });
    world.calls.splice(0);

    const done = world.completed(1);
    const before = cpuTime();
    await world.deposit([order]);
    const { seconds } = await timed(() => done);
    const cpu = cpuTime() - before;
    const paying = world.calls.splice(0);
    const view = await world.storage.transaction(order.transactionId);
    const payouts = (view?.payments ?? []).filter(({ kind }) => kind === "payout").length;
    report({
      name: `payroll of ${RECIPIENTS}, deposit to completed`,
      transactions: payouts,
      seconds,
      slots: (seconds * 1_000) / SLOT_MS,
      "CPU ms": cpu / 1_000,
      ...perPayment(paying, payouts),
    });
    report({ name: "calls of a payout", ...callList(paying, payouts) });
  } finally {
    await world.close();
  }
}
