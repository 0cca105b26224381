/** An honest tenant beside hostile ones, whose receivers are dead, slow, endless, resetting and redirecting, by the hundred. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { issueLoopbackCertificate } from "../kit/loopback-certificate.ts";
import { startDelivering, type Delivering } from "./delivering.ts";
import { percentile, type Report } from "./figures.ts";
import type { HostileReady, HostileSettings } from "./hostile-process.ts";
import { startReceiver, type ReceiverProcess } from "./start-receiver.ts";

const HOSTILE_ACCOUNTS = 8;
const HOSTILE_WEBHOOKS = 400;
/** Each goes to every webhook of one hostile account. */
const HOSTILE_NOTICES = 40;
const HONEST_NOTICES = 50;
const PAUSE_MS = 100;
const NANOSECONDS = 1_000_000;

/** The wait of honest notices, from commit to first byte, and the delay of the event loop: alone and beside the hostile. */
export async function benchHostile(report: Report): Promise<void> {
  const certificate = await issueLoopbackCertificate();
  const settings: HostileSettings = { certificate, count: HOSTILE_WEBHOOKS };
  const args = [JSON.stringify(settings)];
  const child = fork("test/bench/hostile-process.ts", args, { execArgv: ["--import", "tsx"] });
  const [{ urls }] = (await once(child, "message")) as [HostileReady];
  const receiver = await startReceiver(certificate);
  const delivering = await startDelivering(certificate.ca);
  const { register, complete } = delivering;
  try {
    await register([{ id: "wh_honest", accountId: "honest", url: receiver.urlOf(0) }]);
    const each = HOSTILE_WEBHOOKS / HOSTILE_ACCOUNTS;
    const accountOf = (webhook: number): string => `hostile_${Math.floor(webhook / each)}`;
    await register(urls.map((url, index) => ({ id: `wh_${index}`, accountId: accountOf(index), url })));
    report({ name: "hostile tenants absent", ...(await honestWaits(delivering, receiver)) });
    for (let index = 0; index < HOSTILE_NOTICES; index++) {
      await complete(`hostile_${index % HOSTILE_ACCOUNTS}`);
    }
    const facts = { "hostile webhooks": urls.length, "hostile accounts": HOSTILE_ACCOUNTS };
    report({ name: "hostile tenants present", ...(await honestWaits(delivering, receiver)), ...facts });
  } finally {
    await delivering.stop();
    await receiver.end();
    child.kill("SIGKILL");
    await once(child, "exit");
  }
}

async function honestWaits(
  { complete }: Delivering,
  receiver: ReceiverProcess,
): Promise<Readonly<Record<string, number>>> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const committedAt = new Map<string, number>();
  delay.enable();
  for (let index = 0; index < HONEST_NOTICES; index++) {
    committedAt.set(await complete("honest"), Number(process.hrtime.bigint()) / NANOSECONDS);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  delay.disable();
  const arrivals = await receiver.arrivals();
  const waits = arrivals.map(([noticeId, at]) => Math.max(0, at - (committedAt.get(noticeId) ?? NaN)));
  return {
    notices: waits.length,
    "first byte p50 ms": percentile(waits, 0.5),
    "first byte max ms": Math.max(...waits),
    "event loop p99 ms": delay.percentile(99) / NANOSECONDS,
    "event loop max ms": delay.max / NANOSECONDS,
  };
}
