/** What private orders cost on the chain, counted and never timed: calls by method, transactions, fees, rent that is bound. */
import type { PaymentRecord } from "../../src/payments/tables/payments.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { privateFixture, units, type PrivateFixture } from "../kit/private-fixture.ts";
import { report } from "./figures.ts";
import { NodeCalls } from "./node-calls.ts";

const PAYROLL = 500;
const SHARE = "0.01";
const TOKEN_ACCOUNT_BYTES = 165;
/** A slot takes 400 ms: five in two seconds. */
const SLOTS_BY_SECOND = [2, 3] as const;
const MAX_SECONDS = 1_000;
const MAX_SWEEPS = 4;

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
    calls.take();
    const { body } = await world.order(caller, { sender: alice, to });
    report({ name: `private-costs, ${scenario.name}: quote, order`, calls: calls.take().calls });

    const [payee] = payees;
    if (scenario.isFrozen && payee !== undefined) await world.freeze(payee, "USDC");
    const before = await sponsorHas(world);
    world.chain.fund(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
    const seconds = await untilOver(
      world,
      async () => {
        const { status } = await world.service.transaction(caller, body.transactionId);
        return status === "completed" || status === "failed";
      },
      body.transactionId,
    );
    report({ name: `private-costs, ${scenario.name}: deposit to end`, seconds, calls: calls.take().calls });
    const over = await sponsorHas(world);
    const paid = await landed(world, body.transactionId);

    await untilEmpty(world, body.ephemeralAddress);
    report({ name: `private-costs, ${scenario.name}: end to empty`, calls: calls.take().calls });
    const all = await landed(world, body.transactionId);
    const feesToEnd = await feesOf(world, paid);
    const fees = await feesOf(world, all);
    const rent = await world.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
    const accounts = scenario.haveAccounts ? 0n : rent * BigInt(scenario.recipients);
    report({
      name: `private-costs, ${scenario.name}: transactions`,
      landed: all
        .map(({ kind }) => kind)
        .filter((kind, at, kinds) => kind !== kinds[at - 1])
        .join(", "),
      transactions: all.length,
      "most recipients": Math.max(...all.map(({ legs }) => legs.length)),
      "fees, lamports": Number(fees),
      "accounts of payees, lamports": Number(accounts),
      "bound until the sweep, lamports": Number(before - over - feesToEnd - accounts),
      "given back by it, lamports": Number((await sponsorHas(world)) - over + (fees - feesToEnd)),
    });
  } finally {
    await world.close();
  }
}

function payeesOf({ wallet }: PrivateFixture, { recipients, haveAccounts }: Scenario): readonly Wallet[] {
  const funds = haveAccounts ? { lamports: 1_000_000n, usdc: 1n } : { lamports: 1_000_000n };
  return Array.from({ length: recipients }, (_, index) => wallet(`payee ${index}`, funds));
}

async function sponsorHas({ held, sponsor }: PrivateFixture): Promise<bigint> {
  return (await held(sponsor.address))[0];
}

/** Lets seconds pass until the order has ended and all of its payments are final; how many it took. */
async function untilOver(
  { chain, pass, storage }: PrivateFixture,
  hasEnded: () => Promise<boolean>,
  transactionId: string,
): Promise<number> {
  for (let second = 1; second <= MAX_SECONDS; second += 1) {
    chain.advance(SLOTS_BY_SECOND[second % SLOTS_BY_SECOND.length] ?? 0);
    await pass(1_000);
    const payments = (await storage.transaction(transactionId))?.payments ?? [];
    const isUnderWay = payments.some(({ status }) => status !== "finalized" && status !== "failed");
    if (!isUnderWay && (await hasEnded())) return second;
  }
  throw new Error(`order ${transactionId} has not ended in ${MAX_SECONDS} seconds`);
}

async function untilEmpty(world: PrivateFixture, address: string): Promise<void> {
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep += 1) {
    await world.sweep();
    if ((await world.held(address)).every((amount) => amount === 0n)) return;
  }
  throw new Error(`${address} is not empty`);
}

async function landed({ storage }: PrivateFixture, transactionId: string): Promise<readonly PaymentRecord[]> {
  const payments = (await storage.transaction(transactionId))?.payments ?? [];
  return payments.filter(({ status }) => status === "finalized");
}

async function feesOf({ ledger }: PrivateFixture, payments: readonly PaymentRecord[]): Promise<bigint> {
  const receipts = await ledger.receipts(payments.flatMap(({ signature }) => signature ?? []));
  return receipts.reduce((sum, receipt) => sum + (receipt?.fee ?? 0n), 0n);
}

/** On the local chain in this process, by a clock that only this bench turns: the same figures in every run. */
export async function benchPrivateCosts(): Promise<void> {
  for (const scenario of SCENARIOS) await measure(scenario);
}
