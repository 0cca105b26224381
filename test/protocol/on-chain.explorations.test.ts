/** M7: the sequences of the model, sent to the real programs: what the model lets land lands, and nothing else does. */
import type { TransactionError } from "@solana/web3.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ATTACKS, attacked } from "./attacks.ts";
import { type Chain, deposit, emptyChain, land, type Message, refusedStep, type Step } from "./chain.ts";
import { explore } from "./explore.ts";
import { excessRefund, writeBook } from "./messages.ts";
import { type Act, describeAct, protocol, type Scenario } from "./model.ts";
import { computeBudget, type DepositOnChain, depositsOnChain } from "./on-chain.ts";
import { PROTOCOL } from "./rules.ts";
import { SWAP, TWO_CHUNKS, TWO_COPIES } from "./scenarios.ts";
import { runsOf } from "../kit/thorough.ts";
import { withinBudget } from "../kit/exploration-budget.ts";

const makeDeposit = depositsOnChain();

/** Does on the chain what happened in the model, and tells what the chain refused. */
async function carryOut(onChain: DepositOnChain, act: Act): Promise<TransactionError | null> {
  switch (act.does) {
    case "land":
      return onChain.land(act.message);
    case "deposit":
      onChain.fund(act.amount);
      break;
    case "finalize":
      onChain.finalize();
      break;
    case "fork":
      await onChain.fork();
      break;
    case "retire":
      onChain.expire();
      break;
    case "sign":
    case "restore":
      break;
    case "touch":
      throw new Error("Strangers cannot change a marker on the chain.");
  }
  return null;
}

async function expectSameMoney(onChain: DepositOnChain, chain: Chain): Promise<void> {
  const { payees, sender, treasury, deposit: key } = onChain;
  const units = await Promise.all(
    [key.publicKey, treasury, sender, ...payees].map((address) => onChain.units(address)),
  );
  const [balance, fee, returned, ...paid] = units;
  expect({ balance, fee, total: units.reduce((sum, amount) => sum + amount, 0) }).toEqual({
    balance: chain.balance,
    fee: chain.fee,
    total: chain.deposited,
  });
  expect(returned).toBeGreaterThanOrEqual(chain.excess);
  expect(paid.map((amount) => amount > 0)).toEqual(payees.map((_, payee) => (chain.paid[payee] ?? 0) > 0));
}

/** Enough for some messages and too little for all. */
const FUNDS = 5;

describe("without its rule each attack goes through on the chain", () => {
  const possible = ATTACKS.filter((attack) => !attack.without.includes("markersAreOurs"));
  test.each(possible.map((attack) => [attack.name, attack] as const))("M7: %s", async (_, attack) => {
    const { violation } = explore(protocol(attacked(attack), [attack.breaks]), attack.acts.length);
    if (violation === null) throw new Error("The model finds no attack.");
    const onChain = makeDeposit();
    for (const act of violation.acts) expect(await carryOut(onChain, act), describeAct(act)).toBeNull();
    await expectSameMoney(onChain, violation.state.tip);
  });
});

describe("with every rule the chain lands what the model lands and refuses what it refuses", () => {
  const scenarios: readonly (readonly [string, Scenario])[] = [
    ["two copies and two chunks", TWO_COPIES],
    ["two chunks", TWO_CHUNKS],
    ["a swap", SWAP],
  ];
  test.each(scenarios)("M7: any order of messages, with %s", async (_, scenario) => {
    const messages = signable(scenario);
    const onChain = makeDeposit();
    onChain.fund(FUNDS);
    onChain.finalize();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...messages), { maxLength: 15 }), async (sequence) => {
        const landed = await landAll(onChain, sequence, scenario);
        expect(landed.balance).toBeGreaterThanOrEqual(0);
        await onChain.fork();
      }),
      { numRuns: runsOf(15), plugins: [withinBudget()] },
    );
  });
});

function signable({ order, copies }: Scenario): readonly Message[] {
  const books = copies.map((copy) => writeBook(order, PROTOCOL, copy));
  const excess = [0, 1].flatMap((ordinal) =>
    [1, 2].map((amount) => excessRefund(PROTOCOL, { ordinal, amount, home: "the sender" })),
  );
  return [...books.flatMap((book) => book.messages), ...excess];
}

/** The error by which the real programs refuse the message, or null: its instruction and its code. */
function refusal(chain: Chain, message: Message): TransactionError | null {
  const refused = refusedStep(chain, message);
  if (refused === null) return null;
  const { steps } = message;
  const before = steps.slice(0, refused).map(({ does }) => (does === "make" ? MARKER_INSTRUCTIONS : 1));
  const index = before.reduce((sum, count) => sum + count, computeBudget().length);
  const step = steps[refused];
  if (step === undefined) throw new RangeError("The message has no such step.");
  return { InstructionError: [index, CODES[step.does]] };
}

/** A marker is allocated, given its rent and initialized. The first of these is refused when it is made. */
const MARKER_INSTRUCTIONS = 3;

const ALREADY_IN_USE = { Custom: 0 };
const INSUFFICIENT_FUNDS = { Custom: 1 };
const CODES: Readonly<Record<Step["does"], string | { readonly Custom: number }>> = {
  make: ALREADY_IN_USE,
  approve: "InvalidAccountData",
  revoke: "InvalidAccountData",
  close: "InvalidAccountData",
  pay: INSUFFICIENT_FUNDS,
  refund: INSUFFICIENT_FUNDS,
  "return excess": INSUFFICIENT_FUNDS,
  "take fee": INSUFFICIENT_FUNDS,
};

async function landAll(
  onChain: DepositOnChain,
  sequence: readonly Message[],
  { order }: Scenario,
): Promise<Chain> {
  let chain = deposit(emptyChain(order.amounts.length), FUNDS);
  for (const message of sequence) {
    expect(await onChain.land(message), message.name).toEqual(refusal(chain, message));
    chain = land(chain, message) ?? chain;
  }
  await expectSameMoney(onChain, chain);
  return chain;
}
