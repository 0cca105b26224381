/** One node's word does not compile where money is decided, and neither does a bare value: each line below is a planted mistake. */
import { expect, expectTypeOf, test } from "vitest";
import { agreed } from "../../src/ledger/agreed.ts";
import type { Evidence, Hint } from "../../src/ledger/belief.ts";
import { heard } from "../../src/ledger/heard.ts";
import type {
  Attempt,
  DeclaredPayment,
  AttemptLook,
  Sighting,
  Landing,
  Ledger,
  LedgerReads,
  PaymentCost,
  SimulationFault,
  VerifiedPayment,
} from "../../src/ledger/ledger.ts";
import { READS, type ReadRule, type RulesOf } from "../../src/ledger/reads.ts";
import type { FundsReading, UnsignedTransaction } from "../../src/ledger/routing.ts";
import type { Assets } from "../../src/payments/frame/assets/assets.ts";
import { ConfirmedSignatureCache } from "../../src/payments/frame/resend-queue.ts";
import { landingEvent, newsOf } from "../../src/payments/wallet/signature-news.ts";
import { simulationError } from "../../src/payments/wallet/accept-transfer.ts";

/** What a planted mistake gets hold of. */
interface Planted {
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly attempt: Attempt;
  readonly payment: DeclaredPayment;
  readonly verified: VerifiedPayment;
  readonly landing: Landing;
  readonly look: AttemptLook;
  readonly fault: SimulationFault;
  readonly unsigned: UnsignedTransaction;
}

/** Compiled and never run. */
async function mistakes(with_: Planted): Promise<void> {
  const { ledger, assets, attempt, landing, look, fault, verified, payment } = with_;
  const plan = { feePayer: payment.sender, moves: [] };

  // Ending a status.
  // @ts-expect-error -- a bare landing
  landingEvent(attempt, landing);
  // @ts-expect-error -- a landing of one node
  landingEvent(attempt, heard(landing));
  landingEvent(attempt, agreed(landing));
  // @ts-expect-error -- a look at one node
  newsOf(heard(look));
  // @ts-expect-error -- a bare look
  newsOf(look);
  newsOf(agreed(look));

  // Confirming one.
  // @ts-expect-error -- what one node shows as confirmed
  const shown = new ConfirmedSignatureCache({ sightings: async () => [heard<Sighting>("confirmed")] });
  // @ts-expect-error -- a bare answer
  const said = new ConfirmedSignatureCache({ sightings: async () => ["confirmed"] });
  expect([shown, said]).toHaveLength(2);

  // Leaving a payee out.
  // @ts-expect-error -- the error that one node tells
  await ledger.explainOrder(plan, heard("text"));
  // @ts-expect-error -- a bare error
  await ledger.explainOrder(plan, "text");
  await ledger.explainOrder(plan, agreed("text"));

  // Reading a lookup table or the owner of a token account: what was not verified is not simulated, and not taken.
  // @ts-expect-error -- bytes that one node vouched for
  await ledger.simulatePayment(heard(verified), payment);
  // @ts-expect-error -- bytes that no node vouched for
  await ledger.simulatePayment(verified, payment);

  // Refusing a payment.
  // @ts-expect-error -- the fault that one node told
  simulationError(heard(fault), assets);
  simulationError(agreed(fault), assets);

  // Pricing a quote.
  // @ts-expect-error -- the rent that one node told
  const cost: PaymentCost = { networkFee: agreed(5_000n), rent: heard(7n) };
  // @ts-expect-error -- a bare fee
  const bare: PaymentCost = { networkFee: 5_000n, rent: agreed(7n) };
  expect([cost, bare]).toHaveLength(2);

  // Bounding an expense.
  // @ts-expect-error -- the fee that one node told
  const unsigned: UnsignedTransaction = { ...with_.unsigned, networkFee: heard(1n) };
  expect(unsigned).toBeDefined();
}

/** Mistakes in a ledger and in the table of its reads. */
function mistakesOfALedger(reading: FundsReading): readonly unknown[] {
  // @ts-expect-error -- a ledger must not answer one node's reading as evidence
  const funds: Ledger["funds"] = async () => heard(reading);
  // @ts-expect-error -- nor a bare one
  const bare: Ledger["funds"] = async () => reading;
  // @ts-expect-error -- nor pass off a hint as evidence by marking it again
  const laundered: Evidence<bigint> = agreed(heard(7n));
  const evidence: ReadRule = {
    belief: "evidence",
    witnesses: "enough",
    absence: "none",
    decides: "anything",
  } as const;
  // @ts-expect-error -- the type of this method says that it answers a hint
  const wrong: RulesOf<Pick<LedgerReads, "statuses">> = { statuses: { ...evidence, belief: "evidence" } };
  // @ts-expect-error -- the type of this one says evidence
  const other: RulesOf<Pick<LedgerReads, "funds">> = { funds: { ...evidence, belief: "hint" } };
  // @ts-expect-error -- a read without a line
  const missing: RulesOf<Pick<LedgerReads, "funds" | "statuses">> = { funds: READS.funds };
  // @ts-expect-error -- a method whose type says neither
  const neither: RulesOf<{ news(): Promise<string> }> = { news: { ...evidence, belief: "evidence" } };
  return [funds, bare, laundered, wrong, other, missing, neither];
}

test("one node's word and a bare value do not compile where money is decided", () => {
  // The mistakes are checked by the compiler, which all of the project passes before its tests.
  const planted = [typeof mistakes, typeof mistakesOfALedger];
  expect(planted).toEqual(["function", "function"]);
});

test("a mark changes no value, and evidence can stand where a hint is enough", () => {
  const reading = { slot: 7, endpoint: "node.example" };
  expect(agreed(reading)).toBe(reading);
  expect(heard(reading)).toBe(reading);
  expectTypeOf<Evidence<bigint>>().toExtend<Hint<bigint>>();
  expectTypeOf<Hint<bigint>>().not.toExtend<Evidence<bigint>>();
  expectTypeOf<Evidence<Hint<bigint>>>().toEqualTypeOf<Hint<bigint>>();
});
