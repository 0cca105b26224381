/** What a private send asks of the chain, alone and among a thousand; and how long it takes, and how much of that is ours. */
import { callList, cpuTime, partOf, perPayment, type NodeCall } from "./ledger-calls.ts";
import { inParallel, median, timed, type Report } from "./figures.ts";
import { privateWorld, type PrivateWorld, type TakenOrder } from "./private-world.ts";

/** Slots and polls four times as fast as real ones, and so as many polls to a slot. */
const SLOT_MS = 100;
const POLL_MS = 250;
const REAL_SLOT_SECONDS = 0.4;
const SINGLE_SENDS = 3;
const IN_FLIGHT = 1_000;
const AT_ONCE = 32;
const CALLS_PER_BATCH = 20;

/** One send of one recipient who has a token account. */
const take = ({ order, recipients }: PrivateWorld, index: number): Promise<TakenOrder> =>
  order([{ address: recipients[index % recipients.length] ?? "", amount: "1" }]);

/** What lies between an answer of the chain and what the service does about it. */
interface Ours {
  readonly ms: number;
  readonly cpuMs: number;
}

const between = (from: Pick<NodeCall, "at" | "cpu">, to: Pick<NodeCall, "at" | "cpu">): Ours => ({
  ms: to.at - from.at,
  cpuMs: (to.cpu - from.cpu) / 1_000,
});

/**
 * Our own part: from the poll that showed the deposit to the payout's being taken by the node, and from the poll that
 * showed it final to the notice.
 */
function ownPart(calls: readonly NodeCall[], completed: Pick<NodeCall, "at" | "cpu">): readonly Ours[] {
  const sent = calls.findIndex(({ method }) => method === "sendTransaction");
  const seen = calls.slice(0, sent).findLast((call) => partOf(call) === "watch");
  const final = calls.findLast((call) => partOf(call) === "status" && call.at < completed.at);
  const payout = calls[sent];
  if (seen === undefined || final === undefined || payout === undefined) {
    throw new Error("no payout was seen");
  }
  return [between(seen, payout), between(final, completed)];
}

async function oneAtATime(report: Report, world: PrivateWorld): Promise<void> {
  const taking: NodeCall[] = [];
  const paying: NodeCall[] = [];
  const seconds: number[] = [];
  const own: Ours[] = [];
  for (let index = 0; index <= SINGLE_SENDS; index++) {
    const order = await take(world, index);
    const taken = world.calls.splice(0);
    const done = world.completed(1);
    await world.deposit([order]);
    const { seconds: took } = await timed(() => done);
    const completed = { at: performance.now(), cpu: cpuTime() };
    const parts = ownPart(world.calls, completed);
    const paid = world.calls.splice(0);
    // The first one loads what the others find loaded.
    if (index === 0) continue;
    taking.push(...taken.filter((call) => partOf(call) === "rest"));
    paying.push(...paid);
    seconds.push(took);
    own.push({
      ms: parts.reduce((sum, { ms }) => sum + ms, 0),
      cpuMs: parts.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    });
  }
  const slots = (median(seconds) * 1_000) / SLOT_MS;
  report({
    name: "private send, deposit to completed",
    slots,
    "s at 400 ms a slot": slots * REAL_SLOT_SECONDS,
    "of it ours, ms": median(own.map(({ ms }) => ms)),
    "CPU ms of ours": median(own.map(({ cpuMs }) => cpuMs)),
  });
  report({ name: "private send, quote and order", ...perPayment(taking, SINGLE_SENDS) });
  report({ name: "private send, calls from deposit to completed", ...perPayment(paying, SINGLE_SENDS) });
  report({ name: "calls of quote and order", ...callList(taking, SINGLE_SENDS) });
  report({ name: "calls from deposit to completed", ...callList(paying, SINGLE_SENDS) });
}

async function manyAtOnce(report: Report, world: PrivateWorld, how = ""): Promise<void> {
  const orders: TakenOrder[] = [];
  await inParallel(IN_FLIGHT, AT_ONCE, async (index) => {
    orders.push(await take(world, index));
  });
  world.calls.splice(0);
  const done = world.completed(IN_FLIGHT);
  const cpu = cpuTime();
  const { seconds } = await timed(async () => {
    await world.deposit(orders);
    await done;
  });
  const count = `${IN_FLIGHT.toLocaleString("en")} in flight${how}`;
  report({
    name: `private sends, ${count}`,
    perSecond: IN_FLIGHT / seconds,
    "s to the last completed": seconds,
    "CPU ms/send": (cpuTime() - cpu) / 1_000 / IN_FLIGHT,
    ...perPayment(world.calls, IN_FLIGHT),
  });
}

/** From the deposit's landing until the payee is paid for good. The sweep comes an hour and a quarter later. */
export async function benchPrivate(report: Report): Promise<void> {
  const speed = { slotMs: SLOT_MS, pollMs: POLL_MS };
  const inBatches = { ...speed, callsPerBatch: CALLS_PER_BATCH };
  await within(speed, (world) => oneAtATime(report, world));
  await within(speed, async (world) => {
    await manyAtOnce(report, world);
    report({
      name: `calls, ${IN_FLIGHT.toLocaleString("en")} in flight`,
      ...callList(world.calls, IN_FLIGHT),
    });
  });
  await within(inBatches, (world) => manyAtOnce(report, world, `, ${CALLS_PER_BATCH} calls a batch`));
}

async function within(
  settings: Parameters<typeof privateWorld>[0],
  bench: (world: PrivateWorld) => Promise<void>,
): Promise<void> {
  const world = await privateWorld(settings);
  try {
    await bench(world);
  } finally {
    await world.close();
  }
}
