/** K4: a marker that no attempt of ours made is told by its own transactions. */
// modules: private
import { expect, test } from "vitest";
import type { Address } from "../../../../src/core/address.ts";
import type { OrderChange } from "../../../../src/ledger/order-reading.ts";
import { openedIn, storyOf } from "../../../../src/payments/private/protocol/story.ts";
import { DESK, LOAN, OTHER, payee, rent, SENDER, SOL_MINT, termsOf, TREASURY, USDC } from "./order.ts";

type Got = OrderChange["received"][number];
const got = (owner: Address, amount: bigint, mint: Address | null = USDC): Got => ({ owner, mint, amount });
const change = (received: readonly Got[], told: Partial<OrderChange> = {}): OrderChange => ({
  slot: 100,
  signature: "signature",
  isOwn: true,
  changes: [0n, 0n, 0n],
  payers: [null, null, null],
  markers: [],
  received,
  ...told,
});

test("K4: members whom one of them pays in full are paid, all others not", () => {
  const terms = termsOf();
  const paid = [got(TREASURY, 100_000n), got(payee(0), 4_900_000n)];
  expect(storyOf(terms, 0, [change(paid)])).toEqual({ unpaid: [], isLent: false });
  expect(storyOf(terms, 0, [change([got(OTHER, 5_000_000n)])]).unpaid).toEqual([0, 1]);
  expect(storyOf(terms, 0, [change([got(TREASURY, 100_000n), got(payee(0), 4_899_999n)])]).unpaid).toEqual([
    1,
  ]);
});

test("K4: a thief who makes the marker in one and pays in another is told by both", () => {
  const [one, other] = [change([got(TREASURY, 100_000n)]), change([got(payee(0), 4_900_000n)])];
  expect(storyOf(termsOf(), 0, [one, other]).unpaid).toEqual([]);
});

test("K4: what the order's address did not sign says nothing", () => {
  const paid = [got(TREASURY, 100_000n), got(payee(0), 4_900_000n)];
  expect(storyOf(termsOf(), 0, [change(paid, { isOwn: false })]).unpaid).toEqual([0, 1]);
});

test("K4: the payee of a swap is paid by what was promised at least", () => {
  const swap = termsOf({ type: "swap", payMint: SOL_MINT, amount: 20_000_000n, required: 5_000_000n });
  const fee = got(TREASURY, 100_000n);
  const paid = [fee, got(payee(0), 21_000_000n, null), got(DESK, 4_900_000n)];
  expect(storyOf(swap, 0, [change(paid)]).unpaid).toEqual([]);
  expect(storyOf(swap, 0, [change([fee, got(DESK, 4_900_000n)])]).unpaid).toEqual([1]);
});

test("K15: it lent if more is at the address than it gave away, whatever rent was paid in it", () => {
  const terms = termsOf({ mint: SOL_MINT, amount: 50_000_000n });
  const [marker, account] = [SENDER, DESK];
  const made = [got(marker, rent(128), null), got(account, rent(165), null)];
  const honest = change([got(TREASURY, 100_000n, null), got(payee(0), 50_000_000n, null), ...made], {
    changes: [LOAN - 50_100_000n],
    markers: [marker],
  });
  expect(storyOf(terms, 0, [honest]).isLent).toBe(true);
  expect(storyOf(terms, 0, [{ ...honest, changes: [LOAN - 50_100_001n] }]).isLent).toBe(false);
  expect(storyOf(terms, 1, [honest]).isLent).toBe(false);
  const forged = change([got(OTHER, 50_100_000n, null), ...made], {
    changes: [-50_100_000n],
    markers: [marker],
  });
  expect(storyOf(terms, 0, [forged]).isLent).toBe(false);
  expect(storyOf(termsOf(), 0, [honest]).isLent).toBe(false);
});

test("K15, N15: of the lamports that left beside the members those count as explained that recipients' accounts got", () => {
  const account = OTHER;
  const made = (gone: bigint, inAccount: bigint): OrderChange =>
    change([got(account, inAccount, null)], { changes: [-gone] });
  expect(openedIn(made(rent(165), rent(165)), 0n, [account])).toBe(rent(165));
  // A thief who holds the key takes more in the same transaction; a stranger pays for the account.
  expect(openedIn(made(rent(165) + 7n, rent(165)), 0n, [account])).toBe(rent(165));
  expect(openedIn(made(rent(165), rent(165)), 0n, [])).toBe(0n);
  expect(openedIn(made(0n, rent(165)), 0n, [account])).toBe(0n);
  // The loan came and the members' part left in it.
  expect(openedIn(made(50_000_000n, rent(165)), LOAN - 50_000_000n, [account])).toBe(LOAN);
});
