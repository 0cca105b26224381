/** What private orders cost on the chain, counted and never timed: calls by method, transactions, fees, rent that stays. */
// modules: private
import { setImmediate } from "node:timers/promises";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import { rentOf } from "../../src/ledger/order-reading.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { privateFixture, type PrivateFixture } from "../kit/private-fixture.ts";
import { units } from "../kit/money.ts";
import { report, type Figure } from "./figures.ts";
import { NodeCalls } from "./node-calls.ts";
import { receiptsOf } from "../kit/receipts.ts";

const PAYROLL = 500;
const SHARE = "0.01";
const TOKEN_ACCOUNT_BYTES = 165;
/** A slot takes 400 ms: five in two seconds. */
const SLOTS_BY_SECOND = [2, 3] as const;
const PARTS_OF_A_SECOND = 4;
const QUIET_TURNS = 200;
const MAX_SECONDS = 1_000;
const MOST_METHODS = 4;

/** One order and what is special about it. */
interface Scenario {
  readonly name: string;
  readonly recipients: number;
  /** Whether the recipients have token accounts before they are paid. */
  readonly haveAccounts: boolean;
  /** Whether the first recipient's account is frozen after the order was taken. */
  readonly isFrozen: boolean;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "send", recipients: 1, haveAccounts: true, isFrozen: false },
  { name: "send, no token account", recipients: 1, haveAccounts: false, isFrozen: false },
  { name: "send, payee frozen: refunded", recipients: 1, haveAccounts: true, isFrozen: true },
  { name: `payroll of ${PAYROLL}`, recipients: PAYROLL, haveAccounts: true, isFrozen: false },
];

/** A world of its own for each scenario, whose slots and seconds pass one after the other. */
async function measure(scenario: Scenario): Promise<void> {
  const calls = new NodeCalls();
  const world = await privateFixture({}, { maxRecipients: PAYROLL }, ({ chain, ledgerOf }) =>
    ledgerOf([{ url: "http://counted", fetch: calls.counting(chain.fetch) }]),
  );
  try {
    world.chain.fund(world.sponsor.address, { lamports: 100_000_000_000n });
    const payees = payeesOf(world, scenario);
    const caller = await world.caller("enterprise");
    const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
    const to = payees.map(({ address }) => ({ address, amount: SHARE }));
    world.chain.advance(35);
    await world.service.settled();
    await world.service.start();
    await quiet(calls);
    calls.take();
    const { body }: { body: CreatedOrderBody } = await world.order(caller, { sender: alice, to });
    report({ name: `private-costs, ${scenario.name}: quote, order`, calls: calls.take().calls });

    const [payee] = payees;
    if (scenario.isFrozen && payee !== undefined) await world.freeze(payee, "USDC");
    const before = await sponsorHas(world);
    world.chain.fund(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
    const ended = await untilIt(world, calls, async () => {
      const { status } = await world.service.transaction(caller, body.transactionId);
      return status === "completed" || status === "failed";
    });
    report({ name: `private-costs, ${scenario.name}: deposit to end`, seconds: ended, ...asked(calls) });

    const seconds = await untilIt(world, calls, async () => {
      return (await world.storage.order(body.transactionId))?.overState === "idle";
    });
    report({ name: `private-costs, ${scenario.name}: end to empty`, seconds, ...asked(calls) });
    const order = (await world.storage.orderedTransaction(body.transactionId))?.order ?? null;
    if (order === null) throw new Error("the order is stored");
    const { chunks, transfers } = order;
    const done = transfers.filter(({ state }) => state === "done");
    const signatures = [...chunks, ...done].flatMap(({ signature }) => signature ?? []);
    const fees = await feesOf(world, [...new Set(signatures)]);
    const rent = await world.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
    const accounts = scenario.haveAccounts ? 0n : rent * BigInt(scenario.recipients);
    const { rentPerByte } = order.order;
    const markers = chunks.reduce(
      (sum, { length }) => (length === null ? sum : sum + rentOf(rentPerByte, length)),
      0n,
    );
    report({
      name: `private-costs, ${scenario.name}: transactions`,
      landed: done
        .map(({ kind }) => kind)
        .filter((kind, at, kinds) => kind !== kinds[at - 1])
        .join(", "),
      transactions: done.length,
      "fees, lamports": Number(fees),
      "accounts of payees, lamports": Number(accounts),
      "markers, lamports": Number(markers),
      "spent by the sponsor, lamports": Number(before - (await sponsorHas(world))),
    });
  } finally {
    await world.close();
  }
}

/** How often the chain was asked since the last time, and what most. */
function asked(calls: NodeCalls): Omit<Figure, "name"> {
  const { calls: all, methods } = calls.take();
  const most = Object.entries(methods).slice(0, MOST_METHODS);
  return { calls: all, most: most.map(([method, count]) => `${method} ${count}`).join(", ") };
}

function payeesOf({ wallet }: PrivateFixture, { recipients, haveAccounts }: Scenario): readonly Wallet[] {
  const funds = haveAccounts ? { lamports: 1_000_000n, usdc: 1n } : { lamports: 1_000_000n };
  return Array.from({ length: recipients }, (_, index) => wallet(`payee ${index}`, funds));
}

async function sponsorHas({ held, sponsor }: PrivateFixture): Promise<bigint> {
  return (await held(sponsor.address))[0];
}

/** Lets seconds pass until it is so, while the service runs at its own pace; how many it took. */
async function untilIt(
  { chain, clock }: PrivateFixture,
  calls: NodeCalls,
  isSo: () => Promise<boolean>,
): Promise<number> {
  for (let second = 0; second <= MAX_SECONDS; second += 1) {
    if (await isSo()) return second;
    chain.advance(SLOTS_BY_SECOND[second % SLOTS_BY_SECOND.length] ?? 0);
    for (let part = 0; part < PARTS_OF_A_SECOND; part += 1) {
      clock.advance(1_000 / PARTS_OF_A_SECOND);
      await quiet(calls);
    }
  }
  throw new Error(`it is not so in ${MAX_SECONDS} seconds`);
}

/** Resolves when the service has asked nothing for some turns of the event loop: it waits for its clock. */
async function quiet(calls: NodeCalls): Promise<void> {
  let seen = calls.total;
  for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
    await setImmediate();
    if (calls.total === seen) continue;
    seen = calls.total;
    turns = 0;
  }
}

async function feesOf({ ledger }: PrivateFixture, signatures: readonly string[]): Promise<bigint> {
  const receipts = await receiptsOf(ledger, signatures);
  return receipts.reduce((sum, receipt) => sum + (receipt?.fee ?? 0n), 0n);
}

/** On the local chain in this process, by a clock that only this bench turns: the same figures in every run. */
export async function benchPrivateCosts(): Promise<void> {
  for (const scenario of SCENARIOS) await measure(scenario);
}
