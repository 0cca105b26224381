/** K12: what goes to anybody but the sender goes once, under a number, and never more than was approved. */
// modules: private
import { expect, test } from "vitest";
import type { OrderChange } from "../../../../src/ledger/order-reading.ts";
import { outlayOf } from "../../../../src/payments/private/protocol/cost.ts";
import {
  freeRedirect,
  judgeRedirect,
  legsOfCollect,
  legsOfForeign,
  legsOfRedirect,
  planRedirect,
  type RedirectPlan,
} from "../../../../src/payments/private/protocol/redirect.ts";
import type { ActRow } from "../../../../src/payments/private/protocol/rows.ts";
import {
  FEE,
  LOAN,
  ORDER,
  OTHER,
  RATE,
  rent,
  SENDER,
  SOL_MINT,
  SPONSOR,
  termsOf,
  USDC,
  viewOf,
  type Wallet,
} from "./order.ts";

const act: ActRow = { n: 1, mint: USDC, sum: 3_000_000n, to: OTHER, state: "open" };
const RICH: Wallet = { lamports: 9_000_000n, usdc: 0n };
const seen = (
  order: Wallet,
  { to = RICH, sponsor = RICH }: { to?: Wallet; sponsor?: Wallet } = {},
  lamportsAUnit: bigint | null = 5n,
) => viewOf({ shown: [{ order, wallets: { [OTHER]: to, [SPONSOR]: sponsor } }], lamportsAUnit });
const planned = (view: ReturnType<typeof seen>, told: ActRow = act, loan = 0n): RedirectPlan =>
  planRedirect(view, told, loan);
const COST = rent(0) + FEE;

test("K12: no more than the approved sum leaves, its cost within; what is more stays", () => {
  const cost = COST / 5n;
  expect(planned(seen({ usdc: 8_000_000n }))).toMatchObject({ toReceiver: 3_000_000n - cost, cost });
  expect(planned(seen({ usdc: 2_000_000n }))).toMatchObject({ toReceiver: 2_000_000n - cost, cost });
  expect(planned(seen({ usdc: 9n })).kind).toBe("not_worth");
  expect(planned(seen({ usdc: 8_000_000n }, {}, null)).kind).toBe("waiting_for_price");
});

test("K12: SOL leaves the loan, or rent(0), and a receiver who can hold it", () => {
  const sol = { ...act, mint: SOL_MINT, sum: 90_000_000n };
  expect(planned(seen({ lamports: 9_000_000n }), sol, LOAN)).toMatchObject({
    toReceiver: 9_000_000n - LOAN - COST,
    cost: COST,
  });
  expect(planned(seen({ lamports: 9_000_000n }), sol)).toMatchObject({
    toReceiver: 9_000_000n - rent(0) - COST,
  });
  const little = seen({ lamports: 2n * rent(0) + COST - 1n }, { to: {} });
  expect(planned(little, sol).kind).toBe("not_worth");
});

test("K12: its marker comes first, at length 0; a missing account is the sponsor's to make, and withheld", () => {
  const view = seen({ usdc: 8_000_000n }, { to: {} });
  const plan = planned(view);
  if (plan.kind !== "redirect") throw new Error(plan.kind);
  expect(plan.cost).toBe((COST + rent(165)) / 5n);
  const legs = legsOfRedirect(view, act, plan);
  expect(legs.map(({ role }) => role)).toEqual(["marker", "receiver", "cost"]);
  expect(legs[0]?.move).toMatchObject({ does: "buy", base: ORDER, seed: "r1", length: 0 });
  expect(legs[1]?.move).toMatchObject({ to: OTHER, amount: plan.toReceiver, accountPayer: SPONSOR });
});

test("K12: while the address may pay for the account, its SOL steps aside", () => {
  const view = seen({ usdc: 8_000_000n, lamports: LOAN + 5n });
  const plan = planned(view, act, LOAN);
  if (plan.kind !== "redirect") throw new Error(plan.kind);
  expect(plan.aside).toBe(LOAN + 5n);
  const legs = legsOfRedirect(view, act, plan);
  expect(legs.map(({ role }) => role)).toEqual(["marker", "loan", "receiver", "cost", "loan"]);
  expect(outlayOf(legs, SPONSOR, { rentPerByte: RATE, fee: FEE })).toBe(FEE + rent(0));
});

test("K12: a purse that cannot take tokens leaves the cost out, and makes no account for nothing", () => {
  const sponsor = { lamports: 1n };
  expect(planned(seen({ usdc: 8_000_000n }, { sponsor }))).toMatchObject({ cost: 0n });
  expect(planned(seen({ usdc: 8_000_000n }, { sponsor, to: {} })).kind).toBe("purse_frozen");
});

test("K12: the lowest number that does not stand is taken; none while one is disputed", () => {
  const free = (markers: Record<string, number>, used = new Set<number>()) =>
    freeRedirect(viewOf({ shown: [{ markers }] }).look, used);
  expect(free({})).toBe(0);
  expect(free({ r0: 0, r1: 0 })).toBe(2);
  expect(free({}, new Set([0]))).toBe(1);
  expect(freeRedirect(viewOf({ shown: [{ markers: { r0: 0 } }, {}] }).look, new Set())).toBeNull();
});

test("K12: a number that stands is the act if it paid its receiver in its mint, whatever the sum; else superseded", () => {
  const change = (owner = OTHER, mint: typeof USDC | null = USDC): OrderChange => ({
    slot: 1,
    signature: "signature",
    isOwn: true,
    changes: [],
    payers: [],
    markers: [],
    received: [{ owner, mint, amount: 1n }],
  });
  expect(judgeRedirect(act, change())).toBe("done");
  expect(judgeRedirect({ ...act, mint: SOL_MINT }, change(OTHER, null))).toBe("done");
  expect(judgeRedirect(act, change(SENDER))).toBe("superseded");
  expect(judgeRedirect(act, change(OTHER, null))).toBe("superseded");
});

test("a stray is collected to the order's own account, which the sponsor makes if it is missing, and closed if it may be", () => {
  const stray = {
    account: OTHER,
    asset: { mint: USDC, decimals: 6 },
    amount: 5n,
    program: "token",
    isClosable: true,
  } as const;
  const [moved, closed] = legsOfCollect(termsOf(), stray, true).map(({ move }) => move);
  expect(moved).toMatchObject({
    does: "transfer",
    from: ORDER,
    to: ORDER,
    fromAccount: OTHER,
    amount: 5n,
    accountPayer: SPONSOR,
  });
  expect(closed).toMatchObject({ does: "close", owner: ORDER, to: ORDER, account: OTHER });
  expect(legsOfCollect(termsOf(), { ...stray, isClosable: false }, false)).toHaveLength(1);
  const wrapped = { ...stray, asset: { mint: SOL_MINT, decimals: 9 } };
  expect(legsOfCollect(termsOf(), wrapped, false).map(({ role }) => role)).toEqual(["close"]);
});

test("K12: an unsupported mint goes to the sender, or under a number to another", () => {
  const asset = { mint: SENDER, decimals: 2 };
  const stray = { account: ORDER, asset, amount: 5n, program: "token-2022", isClosable: false } as const;
  const view = viewOf({ shown: [{}] });
  expect(legsOfForeign(view, stray, { to: SENDER, n: null }).map(({ role }) => role)).toEqual(["stray"]);
  expect(legsOfForeign(view, stray, { to: OTHER, n: 2 }).map(({ role }) => role)).toEqual([
    "marker",
    "stray",
  ]);
  expect(() => legsOfForeign(view, stray, { to: OTHER, n: null })).toThrow(RangeError);
});
