/** M7: the sequences of the model, sent to the real programs: what the model lets land lands, and nothing else does. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ATTACKS, attacked } from "./attacks.ts";
import { type Chain, deposit, emptyChain, land, type Message } from "./chain.ts";
import { explore } from "./explore.ts";
import { excessRefund, writeBook } from "./messages.ts";
import { type Act, protocol, type Scenario } from "./model.ts";
import { DepositOnChain } from "./on-chain.ts";
import { PROTOCOL } from "./rules.ts";
import { EXCHANGE, TWO_CHUNKS, TWO_COPIES } from "./scenarios.ts";

async function carryOut(onChain: DepositOnChain, act: Act): Promise<void> {
  switch (act.does) {
    case "deposit":
      return onChain.fund(act.amount);
    case "land":
      return expect(await onChain.land(act.message), act.message.name).toBeNull();
    case "finalize":
      return onChain.finalize();
    case "fork":
      return onChain.fork();
    case "retire":
      return onChain.expire();
    case "sign":
    case "restore":
      return undefined;
    case "touch":
      throw new Error("Strangers cannot change a marker on the chain.");
  }
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

describe("without its rule each attack goes through on the chain", () => {
  const possible = ATTACKS.filter((attack) => !attack.without.includes("markersAreOurs"));
  test.each(possible.map((attack) => [attack.name, attack] as const))("M7: %s", async (_, attack) => {
    const { violation } = explore(protocol(attacked(attack), [attack.breaks]), attack.acts.length);
    if (violation === null) throw new Error("The model finds no attack.");
    const onChain = await DepositOnChain.create();
    // Blocks before the first finalized one cannot be lost.
    if (!attack.in.forks) onChain.finalize();
    for (const act of violation.acts) await carryOut(onChain, act);
    await expectSameMoney(onChain, violation.state.tip);
  });
});

describe("with every rule the chain lands what the model lands and refuses what it refuses", () => {
  const scenarios: readonly (readonly [string, Scenario])[] = [
    ["two copies and two chunks", TWO_COPIES],
    ["two chunks", TWO_CHUNKS],
    ["an exchange", EXCHANGE],
  ];
  test.each(scenarios)("M7: any order of messages, with %s", async (_, scenario) => {
    const messages = signable(scenario);
    const onChain = await DepositOnChain.create();
    onChain.fund(20);
    onChain.finalize();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...messages), { maxLength: 15 }), async (sequence) => {
        const landed = await landAll(onChain, sequence, scenario);
        expect(landed.balance).toBeGreaterThanOrEqual(0);
        await onChain.fork();
      }),
      { numRuns: 15 },
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

async function landAll(
  onChain: DepositOnChain,
  sequence: readonly Message[],
  { order }: Scenario,
): Promise<Chain> {
  let chain = deposit(emptyChain(order.amounts.length), 20);
  for (const message of sequence) {
    const after = land(chain, message);
    const error = await onChain.land(message);
    expect(error === null, `${message.name}: ${JSON.stringify(error)}`).toBe(after !== null);
    chain = after ?? chain;
  }
  await expectSameMoney(onChain, chain);
  return chain;
}
