/** From the durable commit of a status change to the first byte at its receiver, at 200 notices a second. */
import { startDelivering } from "./delivering.ts";
import { percentile, type Report } from "./figures.ts";
import type { ReceiverProcess } from "./start-receiver.ts";

const PER_SECOND = 200;
const NOTICES = 2_000;
const ACCOUNTS = 16;
const NANOSECONDS = 1_000_000;

/** Commits are asked for at their times, whether or not those before have ended: a slow service is not spared. */
export async function reportFirstBytes(receiver: ReceiverProcess, report: Report): Promise<void> {
  const { register, complete, stop } = await startDelivering(receiver.ca);
  try {
    const accounts = Array.from({ length: ACCOUNTS }, (_, index) => `acct_${index}`);
    await register(
      accounts.map((accountId, index) => ({ id: `wh_${index}`, accountId, url: receiver.urlOf(index) })),
    );
    // Opens a connection to each receiver.
    for (const accountId of accounts) await complete(accountId);
    await wait(1_000);
    await receiver.arrivals();
    const committedAt = new Map<string, number>();
    const commits: Promise<void>[] = [];
    const began = now();
    for (let index = 0; index < NOTICES; index++) {
      const accountId = accounts[index % ACCOUNTS] ?? "";
      await wait(began + (index * 1_000) / PER_SECOND - now());
      commits.push(complete(accountId).then((noticeId) => void committedAt.set(noticeId, now())));
    }
    await Promise.all(commits);
    await wait(2_000);
    const waits = (await receiver.arrivals())
      // One may have left before the answer of its commit was looked at.
      .map(([noticeId, at]) => Math.max(0, at - (committedAt.get(noticeId) ?? NaN)));
    report({
      name: "deliver commit to first byte",
      "p50 ms": percentile(waits, 0.5),
      "p99 ms": percentile(waits, 0.99),
      notices: waits.length,
    });
  } finally {
    await stop();
  }
}

/** On the clock that processes share. */
function now(): number {
  return Number(process.hrtime.bigint()) / NANOSECONDS;
}

async function wait(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
