/** What goes through everything does to others: sends one after another alone, beside a backup, and beside removals. */
import { fork } from "node:child_process";
import { rmSync } from "node:fs";
import type { Wallet } from "../kit/chain-fixture.ts";
import { type Clock, systemClock } from "../../src/runtime.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { median, percentile, type Report } from "./figures.ts";
import type { FilledWorld, Opened } from "./scale-operations.ts";

const SECONDS = 15;
const ROUNDS = 3;
const AT_ONCE = 4;
const SLOT_MS = 400;
const PASS_MS = 600_000;
const SOON_MS = 1_000;
const FUNDS = { lamports: 1_000_000_000_000n, usdc: 1_000_000_000_000n };

/** Sends within some seconds. */
interface Sends {
  readonly perSecond: number;
  readonly p99Ms: number;
}

let amount = 0;

/** Who pays, and who is paid. */
interface Parties {
  readonly from: Wallet;
  readonly address: string;
}

/** A service beside a filled database. */
interface Sending extends Parties {
  readonly world: FilledWorld;
  readonly service: PaymentService;
}

async function send({ world: { fixture, caller }, service, from, address }: Sending): Promise<void> {
  const sent = `2.${String((amount += 1)).padStart(6, "0")}`;
  const recipients = [{ address, amount: sent }];
  const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: sent, sender: from.address, recipients };
  const { body: quote } = await service.createQuote(caller, asked);
  const signedTransaction = fixture.sign(quote.transaction ?? "", from);
  const order = { type: "send" as const, quoteId: quote.quoteId, sender: from.address, recipients };
  await service.createTransaction(caller, { ...order, signedTransaction });
}

/** A clock that goes as that of the machine, from the time of the fixture on; a pass of retention begins after a second. */
function goingClock({ fixture: { clock } }: FilledWorld): Clock {
  const [begin, since] = [clock.now(), performance.now()];
  return {
    now: () => begin + Math.round(performance.now() - since),
    elapsed: () => performance.now(),
    sleep: (ms, signal) => systemClock.sleep(ms === PASS_MS ? SOON_MS : ms, signal),
  };
}

async function sendsOf(sending: Sending): Promise<Sends> {
  const taken: number[] = [];
  const until = performance.now() + SECONDS * 1_000;
  const sender = async (): Promise<void> => {
    while (performance.now() < until) {
      const began = performance.now();
      await send(sending);
      taken.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return { perSecond: taken.length / SECONDS, p99Ms: percentile(taken, 0.99) };
}

const figureOf = (sends: readonly Sends[]) => ({
  perSecond: median(sends.map(({ perSecond }) => perSecond)),
  "p99 ms": median(sends.map(({ p99Ms }) => p99Ms)),
});

/** Alone and beside it in turns, so that what else the machine does meets both alike. */
export async function besideOthers(report: Report, { name, file, world }: Opened): Promise<void> {
  const { fixture } = world;
  await fixture.service.stop();
  const from = fixture.wallet("alice", FUNDS);
  const { address } = fixture.wallet("bob", { usdc: 1n });
  const ofService = (service: PaymentService): Promise<Sends> => sendsOf({ world, service, from, address });
  const [alone, copied, removed]: Sends[][] = [[], [], []];
  let gone = 0;
  const clock = goingClock(world);
  const slots = setInterval(() => fixture.chain.advance(1), SLOT_MS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const service = fixture.another({ clock });
    await service.start();
    alone?.push(await ofService(service));
    if (file !== null) {
      const copy = `${file}.beside`;
      const child = fork("test/bench/backup-process.ts", [file, copy], { execArgv: ["--import", "tsx"] });
      copied?.push(await ofService(service));
      child.kill("SIGKILL");
      for (const ending of ["", ".partial"]) rmSync(`${copy}${ending}`, { force: true });
    }
    await service.stop();
    // Notices go with their transactions, and no sweep before them goes through all notices.
    const remover = fixture.another({ clock, keep: { transactions: "7d", notices: "36500d" } });
    await remover.start();
    await systemClock.sleep(SOON_MS);
    removed?.push(await ofService(remover));
    gone += (await remover.health()).retention?.removed ?? 0;
    await remover.stop();
  }
  clearInterval(slots);
  report({ name: `${name}: sends, ${AT_ONCE} at once`, ...figureOf(alone ?? []) });
  if (file !== null) report({ name: `${name}: sends beside a backup`, ...figureOf(copied ?? []) });
  const rate = gone / SECONDS / ROUNDS;
  report({
    name: `${name}: sends beside removals`,
    ...figureOf(removed ?? []),
    "rows removed a second": rate,
  });
}
