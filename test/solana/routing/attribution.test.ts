/** Who did it: whose money came to an address, and how much of it. */
import {
  AccountLayout,
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import type { TransactionInstruction } from "@solana/web3.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Inflow } from "../../../src/ledger/routing.ts";
import { land, signed } from "../signed-transaction.ts";
import { routingFixture, type Party, type RoutingFixture } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
/** More than a token account needs. */
const TOKEN_ACCOUNT_RENT = 3_000_000;

let fixture: RoutingFixture;
beforeEach(async () => {
  fixture = await routingFixture();
});
afterEach(() => fixture.close());

/** What of an owner's inflows is of this mint, without signatures, in the order of their amounts. */
async function inflowsOf(
  owner: Address,
  mint: Address | null,
  accounts: readonly Address[] = [],
): Promise<readonly Omit<Inflow, "signature">[]> {
  const { inflows, isWhole } = await fixture.ledger.payersOf(owner, [fixture.mints.USDC], accounts);
  expect(isWhole).toBe(true);
  return inflows
    .filter((each) => each.mint === mint)
    .toSorted((a, b) => Number(a.amount - b.amount))
    .map(({ signature: _, ...rest }) => rest);
}

const keyOf = ({ address }: { readonly address: string }): PublicKey => new PublicKey(address);

/** Instructions that open a token account for USDC at a new key, with more lamports than its rent if that is wanted. */
function opening(account: Keypair, owner: Party, payer: Party, extra = 0): TransactionInstruction[] {
  return [
    SystemProgram.createAccount({
      fromPubkey: keyOf(payer),
      newAccountPubkey: account.publicKey,
      lamports: TOKEN_ACCOUNT_RENT + extra,
      space: AccountLayout.span,
      programId: TOKEN_PROGRAM_ID,
    }),
    createInitializeAccount3Instruction(account.publicKey, new PublicKey(fixture.mints.USDC), keyOf(owner)),
  ];
}

function paying(from: Party, source: PublicKey, target: PublicKey, amount: bigint): TransactionInstruction {
  const mint = new PublicKey(fixture.mints.USDC);
  return createTransferCheckedInstruction(source, mint, target, keyOf(from), amount, 6);
}

test("how much came from whom is told by what each transaction took from whom, and who paid for it", async () => {
  const { mints, party, ata } = fixture;
  const carol = party({ lamports: SOL, usdc: 50n });
  const dave = party({ lamports: SOL });
  const relay = party({ lamports: SOL });
  const target = party({ usdc: 1n });
  await land(fixture, {
    signers: [relay, carol],
    instructions: [paying(carol, ata(carol.address), ata(target.address), 20n)],
  });
  const toPubkey = keyOf(target);
  await land(fixture, {
    signers: [dave],
    instructions: [SystemProgram.transfer({ fromPubkey: keyOf(dave), toPubkey, lamports: Number(SOL / 2n) })],
  });
  expect(await inflowsOf(target.address, mints.USDC)).toEqual([
    // The faucet made the first unit out of nothing.
    {
      ...{ mint: mints.USDC, amount: 1n, from: [], unattributed: 1n },
      feePayer: fixture.chain.faucet.address,
    },
    {
      ...{ mint: mints.USDC, amount: 20n, unattributed: 0n, feePayer: relay.address },
      from: [{ payer: carol.address, amount: 20n }],
    },
  ]);
  expect(await inflowsOf(target.address, null)).toEqual([
    {
      ...{ mint: null, amount: SOL / 2n, unattributed: 0n, feePayer: dave.address },
      from: [{ payer: dave.address, amount: SOL / 2n }],
    },
  ]);
});

test("a transaction that failed on the chain moved nothing: it has no payers, and is not even asked for", async () => {
  const { chain, ledger, party } = fixture;
  const dave = party({ lamports: SOL });
  const target = party({ lamports: SOL });
  const toPubkey = keyOf(target);
  const lamports = Number(SOL) * 5;
  const bytes = await signed(fixture, {
    signers: [dave],
    instructions: [SystemProgram.transfer({ fromPubkey: keyOf(dave), toPubkey, lamports })],
  });
  await ledger.broadcast(Buffer.from(bytes, "base64"));
  chain.advance(35);
  const asked: unknown[] = [];
  chain.faults.add(({ method, params }) => {
    if (method === "getTransaction") asked.push(params[0]);
    return undefined;
  });
  const inflows = await inflowsOf(target.address, null);
  expect(inflows.map(({ feePayer }) => feePayer)).toEqual([chain.faucet.address]);
  expect(asked).toHaveLength(1);
});

test("M8: tokens in an account that is not the associated one are attributed to who brought them there", async () => {
  const { mints, party, ata } = fixture;
  const carol = party({ lamports: SOL, usdc: 50n });
  const target = party();
  const stray = Keypair.generate();
  await land(fixture, {
    signers: [carol, stray],
    instructions: [...opening(stray, target, carol), paying(carol, ata(carol.address), stray.publicKey, 20n)],
  });
  const brought = [{ payer: carol.address, amount: 20n }];
  const account = stray.publicKey.toBase58() as Address;
  expect(await inflowsOf(target.address, mints.USDC, [account])).toMatchObject([
    { amount: 20n, from: brought, unattributed: 0n },
  ]);
  // Not named, and not paid out of by its owner: nobody looks there, and the sum of the attribution shows it.
  expect(await inflowsOf(target.address, mints.USDC)).toEqual([]);
});

test("M8: what the owner collected from an account is attributed by that account's history, though it is gone", async () => {
  const { mints, party, ata, sponsor } = fixture;
  const carol = party({ lamports: SOL, usdc: 50n });
  const target = party({ lamports: SOL });
  const stray = Keypair.generate();
  await land(fixture, {
    signers: [carol, stray],
    instructions: [...opening(stray, target, carol), paying(carol, ata(carol.address), stray.publicKey, 20n)],
  });
  await land(fixture, {
    signers: [sponsor, target],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(
        keyOf(sponsor),
        ata(target.address),
        keyOf(target),
        new PublicKey(mints.USDC),
      ),
      paying(target, stray.publicKey, ata(target.address), 20n),
      createCloseAccountInstruction(stray.publicKey, keyOf(sponsor), keyOf(target)),
    ],
  });
  expect(await inflowsOf(target.address, mints.USDC)).toMatchObject([
    { amount: 20n, from: [{ payer: carol.address, amount: 20n }], unattributed: 0n, feePayer: carol.address },
  ]);
});

test("M8: a token account that is handed over with its content is attributed to who owned it", async () => {
  const { mints, party, ata } = fixture;
  const carol = party({ lamports: SOL, usdc: 50n });
  const target = party();
  const account = Keypair.generate();
  await land(fixture, {
    signers: [carol, account],
    instructions: [
      ...opening(account, carol, carol),
      paying(carol, ata(carol.address), account.publicKey, 20n),
    ],
  });
  await land(fixture, {
    signers: [carol],
    instructions: [
      createSetAuthorityInstruction(
        account.publicKey,
        keyOf(carol),
        AuthorityType.AccountOwner,
        keyOf(target),
      ),
    ],
  });
  const found = await inflowsOf(target.address, mints.USDC, [account.publicKey.toBase58() as Address]);
  expect(found).toMatchObject([
    { amount: 20n, from: [{ payer: carol.address, amount: 20n }], unattributed: 0n },
  ]);
});

test("M8: lamports of a closed account are its owner's if the owner signed, and nobody's if somebody else closed it", async () => {
  const { party } = fixture;
  const carol = party({ lamports: SOL });
  const dave = party({ lamports: SOL });
  const target = party();
  const [own, disguised] = [Keypair.generate(), Keypair.generate()];
  const extra = 100_000_000;
  await land(fixture, { signers: [carol, own], instructions: opening(own, carol, carol, extra) });
  await land(fixture, {
    signers: [carol],
    instructions: [createCloseAccountInstruction(own.publicKey, keyOf(target), keyOf(carol))],
  });
  // Carol keeps the right to close an account that she then makes dave's, who knows nothing of it.
  const { CloseAccount, AccountOwner } = AuthorityType;
  await land(fixture, {
    signers: [carol, disguised],
    instructions: [
      ...opening(disguised, carol, carol, 2 * extra),
      createSetAuthorityInstruction(disguised.publicKey, keyOf(carol), CloseAccount, keyOf(carol)),
      createSetAuthorityInstruction(disguised.publicKey, keyOf(carol), AccountOwner, keyOf(dave)),
    ],
  });
  const relay = party({ lamports: SOL });
  await land(fixture, {
    signers: [relay, carol],
    instructions: [createCloseAccountInstruction(disguised.publicKey, keyOf(target), keyOf(carol))],
  });
  const first = BigInt(TOKEN_ACCOUNT_RENT + extra);
  const second = BigInt(TOKEN_ACCOUNT_RENT + 2 * extra);
  expect(await inflowsOf(target.address, null)).toMatchObject([
    { amount: first, from: [{ payer: carol.address, amount: first }], unattributed: 0n },
    { amount: second, from: [], unattributed: second, feePayer: relay.address },
  ]);
});

test("M8: lamports that a program let go of are nobody's: a nonce account's", async () => {
  const { party } = fixture;
  const carol = party({ lamports: SOL });
  const target = party();
  const nonce = Keypair.generate();
  const lamports = 50_000_000;
  await land(fixture, {
    signers: [carol, nonce],
    instructions: SystemProgram.createNonceAccount({
      ...{ fromPubkey: keyOf(carol), noncePubkey: nonce.publicKey },
      ...{ authorizedPubkey: keyOf(carol), lamports },
    }).instructions,
  });
  const away = { noncePubkey: nonce.publicKey, authorizedPubkey: keyOf(carol), toPubkey: keyOf(target) };
  await land(fixture, {
    signers: [carol],
    instructions: [SystemProgram.nonceWithdraw({ ...away, lamports })],
  });
  expect(await inflowsOf(target.address, null)).toMatchObject([
    { amount: BigInt(lamports), from: [], unattributed: BigInt(lamports), feePayer: carol.address },
  ]);
});

test("P15: a hundred dust transactions make an attribution that says it is not whole", async () => {
  const { ledger, mints, chain, nobody } = fixture;
  const flooded = nobody();
  for (let index = 0; index < 100; index++) chain.fund(flooded, { lamports: SOL });
  chain.advance(33);
  expect((await ledger.payersOf(flooded, [mints.USDC], [])).isWhole).toBe(false);
});
