/** One node's word does not compile where money is decided, and neither does a bare value: each line below is a planted mistake. */
import { expect, expectTypeOf, test } from "vitest";
import type { Address } from "../../src/address.ts";
import { agreed } from "../../src/ledger/agreed.ts";
import type { Evidence, Hint } from "../../src/ledger/belief.ts";
import { heard } from "../../src/ledger/heard.ts";
import type {
  Attempt,
  DeclaredPayment,
  AttemptFate,
  Landing,
  Ledger,
  LedgerReads,
  PaymentCost,
  SimulationFault,
  VerifiedPayment,
} from "../../src/ledger/ledger.ts";
import { READS, type ReadRule, type RulesOf } from "../../src/ledger/reads.ts";
import type {
  Funds,
  FundsReading,
  Inflow,
  InflowHistory,
  RoutingLedger,
  UnsignedTransaction,
  WitnessedHistory,
} from "../../src/ledger/routing.ts";
import type { Assets } from "../../src/payments/assets/assets.ts";
import { ConfirmedSignatureCache } from "../../src/payments/outgoing/resend-queue.ts";
import { spendingElsewhere } from "../../src/payments/outgoing/unknown-spending.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { creditedAmounts } from "../../src/payments/private/received-funds.ts";
import { payersIn } from "../../src/payments/private/screen-payers.ts";
import { costOfLanding } from "../../src/payments/purses/sponsor-allowance.ts";
import { standingOf } from "../../src/payments/wallet/signature-news.ts";
import { simulationError } from "../../src/payments/wallet/accept-signed.ts";
import { landingEvent } from "../../src/payments/wallet/stored-attempt.ts";

/** What a planted mistake gets hold of. */
interface Planted {
  readonly ledger: Ledger;
  readonly routing: RoutingLedger;
  readonly assets: Assets;
  readonly attempt: Attempt;
  readonly payment: DeclaredPayment;
  readonly verified: VerifiedPayment;
  readonly landing: Landing;
  readonly funds: Funds;
  readonly inflow: Inflow;
  readonly fault: SimulationFault;
  readonly unsigned: UnsignedTransaction;
}

/** What a planted mistake about the history of an address gets hold of. */
interface PlantedHistory extends Pick<Planted, "routing" | "inflow"> {
  readonly storage: PaymentStorage;
}

/** Compiled and never run. */
async function mistakes(with_: Planted): Promise<void> {
  const { ledger, assets, attempt, landing, funds, inflow, fault, verified, payment } = with_;
  const status = (await ledger.statuses([attempt.signature]))[0] ?? null;
  const bearers = { sponsor: attempt.signature as Address, ours: [] };
  const plan = { feePayer: bearers.sponsor, moves: [] };

  // Ending a status.
  // @ts-expect-error -- a bare landing
  landingEvent(attempt, landing);
  // @ts-expect-error -- a landing of one node
  landingEvent(attempt, heard(landing));
  landingEvent(attempt, agreed(landing));
  // @ts-expect-error -- a fate of one node
  standingOf(status, heard<AttemptFate>("dead"));
  // @ts-expect-error -- a bare fate
  standingOf(status, "dead");
  standingOf(status, agreed<AttemptFate>("dead"));

  // Confirming one.
  // @ts-expect-error -- what one node shows as confirmed
  const shown = new ConfirmedSignatureCache({ confirmed: async () => [heard(true)] });
  // @ts-expect-error -- a bare answer
  const said = new ConfirmedSignatureCache({ confirmed: async () => [true] });
  expect([shown, said]).toHaveLength(2);

  // Crediting a deposit and closing its window.
  // @ts-expect-error -- what one node shows at the address
  creditedAmounts(heard(funds));
  // @ts-expect-error -- bare amounts
  creditedAmounts(funds);
  // @ts-expect-error -- evidence of another amount does not vouch for a bare one
  creditedAmounts({ ...agreed(funds), lamports: 7n });
  creditedAmounts(agreed(funds));

  // Naming a depositor.
  // @ts-expect-error -- whom one node names
  payersIn([heard(inflow)]);
  // @ts-expect-error -- a bare name
  payersIn([inflow]);
  payersIn([agreed(inflow)]);

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

  // Bounding an expense and moving money.
  // @ts-expect-error -- a bare fee
  await costOfLanding(with_.routing, bearers, { plan, networkFee: 5_000n });
  // @ts-expect-error -- the rent of markers that one node told
  const unsigned: UnsignedTransaction = { ...with_.unsigned, markerRent: heard(1n) };
  await costOfLanding(with_.routing, bearers, { plan, networkFee: unsigned.networkFee });
}

/** Mistakes about what an address has paid and who paid in, compiled and never run. */
async function mistakesAboutHistory({ routing, storage, inflow }: PlantedHistory): Promise<void> {
  const { signature, feePayer } = inflow;
  const transaction = { signature, slot: 7, error: null };

  // Believing that another copy of the database has paid nothing.
  // @ts-expect-error -- what one node lists
  await spendingElsewhere(storage, [heard(transaction)]);
  // @ts-expect-error -- a bare list
  await spendingElsewhere(storage, [transaction]);
  await spendingElsewhere(storage, [agreed(transaction)]);

  // Ending the search for payers.
  const isExplained = ([found]: Evidence<readonly Inflow[]>): boolean => found !== undefined;
  await routing.payersOf(feePayer, [], { accounts: [], isExplained });
  // @ts-expect-error -- what one node names
  isExplained([heard(inflow)]);
  // @ts-expect-error -- a bare name
  isExplained([inflow]);

  expectTypeOf(routing.signedWithin).returns.resolves.toEqualTypeOf<Evidence<WitnessedHistory>>();
  expectTypeOf(routing.changesOf).returns.resolves.toEqualTypeOf<Evidence<readonly bigint[]> | null>();
  expectTypeOf(routing.payersOf).returns.resolves.toEqualTypeOf<Evidence<InflowHistory>>();
}

/** Mistakes in a ledger and in the table of its reads. */
function mistakesOfALedger(reading: FundsReading): readonly unknown[] {
  // @ts-expect-error -- a ledger must not answer one node's reading as evidence
  const funds: Ledger["funds"] = async () => heard(reading);
  // @ts-expect-error -- nor a bare one
  const bare: Ledger["funds"] = async () => reading;
  // @ts-expect-error -- nor pass off a hint as evidence by marking it again
  const laundered: Evidence<bigint> = agreed(heard(7n));
  const evidence: ReadRule = { belief: "evidence", witnesses: "enough", decides: "anything" } as const;
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
  const planted = [typeof mistakes, typeof mistakesAboutHistory, typeof mistakesOfALedger];
  expect(planted).toEqual(["function", "function", "function"]);
});

test("a mark changes no value, and evidence can stand where a hint is enough", () => {
  const reading = { slot: 7, endpoint: "node.example" };
  expect(agreed(reading)).toBe(reading);
  expect(heard(reading)).toBe(reading);
  expectTypeOf<Evidence<bigint>>().toExtend<Hint<bigint>>();
  expectTypeOf<Hint<bigint>>().not.toExtend<Evidence<bigint>>();
  expectTypeOf<Evidence<Hint<bigint>>>().toEqualTypeOf<Hint<bigint>>();
});
