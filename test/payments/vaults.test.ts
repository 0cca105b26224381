/** Q13: vaults of programs, which no private key signs for, as payees and as private refund addresses. */
// modules: private
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { describe, expect } from "vitest";
import { SOL_MINT, type Address } from "../../src/core/address.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import type { QuoteRequest, TransactionRequest } from "../../src/payments/frame/requests.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import type { PrivateFixture } from "../kit/private-fixture.ts";
import { units } from "../kit/money.ts";
import { privateTest } from "../kit/private-test.ts";
import { expectRefusal } from "./wallet/wallet-world.ts";

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

interface Stage extends PrivateFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  /** Of a program: no private key signs for it. */
  readonly vault: Address;
}

const test = privateTest.extend("world", async ({ world }): Promise<Stage> => {
  const customer = await world.caller("pro");
  const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 50_000_000n });
  const program = new PublicKey(world.wallet("program").address);
  const [vault] = PublicKey.findProgramAddressSync([Buffer.from("vault")], program);
  world.chain.advance(35);
  return { ...world, customer, alice, vault: vault.toBase58() as Address };
});

const MODES = ["wallet", "private"] as const;
type Recipients = NonNullable<QuoteRequest["recipients"]>;

/** A quote to pay these, from Alice unless said otherwise. */
function quoteOf(world: Stage, recipients: Recipients, more: Partial<QuoteRequest> = {}) {
  const amount = String(recipients.reduce((sum, each) => sum + Number(each.amount), 0));
  const pair = { inputAsset: "USDC", outputAsset: "USDC" };
  const fields = { ...pair, amount, sender: world.alice.address, recipients, ...more };
  return world.service.createQuote(world.customer, fields);
}

/** Posts a send over a quote of its own. */
async function pay(
  world: Stage,
  recipients: Recipients,
  more: Partial<QuoteRequest> = {},
  change: Partial<TransactionRequest> = {},
) {
  const { body: quote } = await quoteOf(world, recipients, more);
  const { mode = "wallet", sender = world.alice.address, senderAllowOffCurve = false } = more;
  const signed = (): string => world.sign(quote.transaction ?? "", world.alice);
  const { body } = await world.service.createTransaction(world.customer, {
    type: "send",
    mode,
    quoteId: quote.quoteId,
    sender,
    senderAllowOffCurve,
    recipients,
    ...(mode === "wallet" ? { signedTransaction: signed() } : {}),
    ...change,
  });
  return { quote, body };
}

describe.each(MODES)("in %s mode", (mode) => {
  test("a vault is refused, and paid where the recipient says so; quote and transaction show it", async ({
    world,
  }) => {
    const { vault: address, customer, service } = world;
    const plain = [{ address, amount: "1" }];
    const offCurve = { index: 0, address, reason: "off_curve" };
    await expectRefusal(quoteOf(world, plain, { mode }), "INVALID_RECIPIENT", offCurve);
    const said = [{ address, amount: "1", allowOffCurve: true }];
    const { quote, body } = await pay(world, said, { mode });
    expect(quote.recipients).toEqual(said);
    expect((await service.quote(customer, quote.quoteId)).recipients).toEqual(said);
    if (mode === "private") {
      const { ephemeralAddress, depositAmount } = body as CreatedOrderBody;
      await world.deposit(ephemeralAddress, { usdc: units(depositAmount, 6) });
      await world.settle(12);
    } else await world.finalize();
    const shown = await service.transaction(customer, body.transactionId);
    expect(shown).toMatchObject({ status: "completed", recipients: said });
    expect((await service.listTransactions(customer)).data[0]).toMatchObject({ recipients: said });
    expect((await world.held(address))[1]).toBe(1_000_000n);
  });

  test("SOL goes to a vault, too", async ({ world }) => {
    const said = [{ address: world.vault, amount: "0.5", allowOffCurve: true }];
    const sol = { mode, inputAsset: "SOL", outputAsset: "SOL" };
    const { body } = await pay(world, said, sol);
    if (mode === "private") {
      const { ephemeralAddress, depositAmount } = body as CreatedOrderBody;
      await world.deposit(ephemeralAddress, { lamports: units(depositAmount, 9) });
      await world.settle(12);
    } else await world.finalize();
    expect((await world.held(world.vault))[0]).toBe(500_000_000n);
  });

  test("a transaction that says otherwise than its quote is INVALID_QUOTE recipients_mismatch", async ({
    world,
  }) => {
    const bob = world.wallet("bob", { lamports: 1_000_000_000n });
    for (const [quoted, declared] of [
      [true, false],
      [false, true],
    ] as const) {
      const share = { address: bob.address, amount: "1" };
      const other = { recipients: [{ ...share, allowOffCurve: declared }] };
      const paid = pay(world, [{ ...share, allowOffCurve: quoted }], { mode }, other);
      await expectRefusal(paid, "INVALID_QUOTE", { reason: "recipients_mismatch" });
    }
  });

  test("what is no vault is refused in spite of it: programs, mints and token accounts, also of the parties alone", async ({
    world,
  }) => {
    const { alice, vault, mints } = world;
    const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
    const stranger = world.wallet("stranger", { usdc: 1n });
    const twin = (owner: string): string =>
      getAssociatedTokenAddressSync(
        new PublicKey(mints.USDC),
        new PublicKey(owner),
        true,
        TOKEN_2022_PROGRAM_ID,
      ).toBase58();
    const share = { address: vault, amount: "1", allowOffCurve: true };
    for (const [address, reason] of [
      [mints.USDC, "mint"],
      [TOKEN_PROGRAM, "program"],
      ["SysvarC1ock11111111111111111111111111111111", "program"],
      [associatedTokenAddress(stranger.address, mints.USDC), "token_account"],
      // Nothing is there yet.
      [associatedTokenAddress(alice.address, mints.USDT), "token_account"],
      [associatedTokenAddress(bob.address, mints.USDT), "token_account"],
      [associatedTokenAddress(bob.address, SOL_MINT), "token_account"],
      [associatedTokenAddress(vault, mints.USDC), "token_account"],
      [twin(alice.address), "token_account"],
      [twin(bob.address), "token_account"],
    ] as const) {
      const wrong = { address, amount: "1", allowOffCurve: true };
      const to = [share, { address: bob.address, amount: "1" }, wrong];
      const details = { index: 2, address, reason };
      await expectRefusal(quoteOf(world, to, { mode }), "INVALID_RECIPIENT", details);
    }
    expect((await quoteOf(world, [share], { mode })).body.mode).toBe(mode);
  });
});

describe("a private refund address", () => {
  test("may be a vault where the request says so: what is too much goes back there", async ({ world }) => {
    const { vault: sender, customer, service } = world;
    const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
    const to = [{ address: bob.address, amount: "1" }];
    const refused = { fields: [{ path: "sender" }] };
    await expectRefusal(quoteOf(world, to, { mode: "private", sender }), "VALIDATION_ERROR", refused);
    const { quote, body } = await pay(world, to, { mode: "private", sender, senderAllowOffCurve: true });
    expect(quote).toMatchObject({ sender, senderAllowOffCurve: true });
    const { ephemeralAddress, depositAmount } = body as CreatedOrderBody;
    await world.deposit(ephemeralAddress, { usdc: units(depositAmount, 6) + 5_000_000n });
    await world.settle(12);
    const shown = await service.transaction(customer, body.transactionId);
    expect(shown).toMatchObject({ status: "completed", senderAllowOffCurve: true });
    expect(shown.refunds).toMatchObject([{ asset: "USDC", status: "paid" }]);
    expect((await world.held(sender))[1]).toBe(units(shown.refunds[0]?.amount ?? "0", 6));
  });

  test("is bound by its quote, and is no token account of the parties", async ({ world }) => {
    const { alice, vault: sender, mints } = world;
    const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
    const to = [{ address: bob.address, amount: "1" }];
    const said = { mode: "private", sender, senderAllowOffCurve: true } as const;
    const silent = pay(world, to, said, { senderAllowOffCurve: false });
    await expectRefusal(silent, "INVALID_QUOTE", { reason: "sender_mismatch" });
    const fields = [{ path: "sender" }];
    for (const account of [
      associatedTokenAddress(bob.address, mints.USDT),
      associatedTokenAddress(bob.address, mints.USDC),
      mints.USDC,
    ]) {
      const quoted = quoteOf(world, to, { ...said, sender: account });
      await expectRefusal(quoted, "VALIDATION_ERROR", { fields });
    }
    const alone = quoteOf(world, to, { ...said, sender: undefined });
    await expectRefusal(alone, "VALIDATION_ERROR", { fields: [{ path: "senderAllowOffCurve" }] });
    const inWallet = pay(world, to, {}, { sender: alice.address, senderAllowOffCurve: true });
    await expectRefusal(inWallet, "VALIDATION_ERROR", { fields: [{ path: "senderAllowOffCurve" }] });
  });
});
