/** Attacks on what a payment moves: who pays whom, how much of what, and out of which account (W3). */
import {
  AuthorityType,
  createApproveInstruction,
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  NATIVE_MINT,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { DeclaredPayment } from "../../src/ledger/ledger.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { keyOf, land, signed } from "./signed-transaction.ts";
import { AMOUNT, unsignedBy, type VerifyScene } from "./verify-scene.ts";
import { verifyTest as test } from "./verify-test.ts";

const MODULUS = 2n ** 64n;
const MISMATCH = "content_mismatch";

/** Opens a token account of `owner` at an address of its own, as wallets did before there were ATAs. */
async function openTokenAccount(
  scene: VerifyScene,
  owner: Wallet,
  mint: PublicKey,
  program = TOKEN_PROGRAM_ID,
): Promise<PublicKey> {
  const account = scene.wallet(`account ${(accounts += 1)}`, {});
  await land(scene, {
    signers: [scene.mallory, account],
    instructions: [
      SystemProgram.createAccount({
        fromPubkey: keyOf(scene.mallory),
        newAccountPubkey: keyOf(account),
        lamports: 10_000_000,
        space: 165,
        programId: program,
      }),
      createInitializeAccount3Instruction(keyOf(account), mint, keyOf(owner), program),
    ],
  });
  return keyOf(account);
}
let accounts = 0;

const giveAway = (account: PublicKey, from: Wallet, to: Wallet): TransactionInstruction =>
  createSetAuthorityInstruction(account, keyOf(from), AuthorityType.AccountOwner, keyOf(to));

test("the payments that are attacked below are accepted when left alone", async ({ scene }) => {
  const { sol, usdc, usdt, judge, honest, payToken } = scene;
  for (const payment of [sol, usdc, usdt]) expect(await judge(payment, honest(payment))).toBe("accepted");
  expect(await judge(usdc, [payToken()])).toBe("accepted");
});

describe("W3: SOL", () => {
  test("attack: another recipient is content_mismatch", async ({ scene }) => {
    const { judge, sol, paySol, mallory, alice } = scene;
    expect(await judge(sol, [paySol({ to: mallory })])).toBe(MISMATCH);
    expect(await judge(sol, [paySol({ to: alice })])).toBe(MISMATCH);
  });

  test.for([
    ["one lamport less", AMOUNT - 1n],
    ["one lamport more", AMOUNT + 1n],
    ["nothing", 0n],
    ["the largest amount there is", MODULUS - 1n],
    ["the amount in the bytes' other order", BigInt.asUintN(64, AMOUNT << 40n)],
  ] as const)("attack: %s is content_mismatch", async ([_what, amount], { scene }) => {
    expect(await scene.judge(scene.sol, [scene.paySol({ amount })])).toBe(MISMATCH);
  });

  test("attack: a further transfer, before or behind, is content_mismatch", async ({ scene }) => {
    const { judge, sol, paySol, mallory } = scene;
    for (const extra of [
      paySol({ to: mallory, amount: 1n }),
      paySol({ to: mallory, amount: 0n }),
      paySol(),
    ]) {
      expect(await judge(sol, [paySol(), extra])).toBe(MISMATCH);
      expect(await judge(sol, [extra, paySol()])).toBe(MISMATCH);
    }
  });

  test("attack: the amount cut in two transfers is content_mismatch, though the sum is right", async ({
    scene,
  }) => {
    const { judge, sol, paySol } = scene;
    expect(await judge(sol, [paySol({ amount: AMOUNT - 1n }), paySol({ amount: 1n })])).toBe(MISMATCH);
  });

  test("attack: two transfers whose sum is the amount only modulo 2^64 are content_mismatch", async ({
    scene,
  }) => {
    const { judge, sol, paySol } = scene;
    const pieces = [paySol({ amount: MODULUS - 1n }), paySol({ amount: AMOUNT + 1n })];
    expect(await judge(sol, pieces)).toBe(MISMATCH);
  });

  test("attack: no transfer at all is content_mismatch", async ({ scene }) => {
    expect(await scene.judge(scene.sol, [])).toBe(MISMATCH);
  });

  test("attack: the amounts of two recipients exchanged, or one of them paid twice, is content_mismatch", async ({
    scene,
  }) => {
    const { judge, sol, paySol, bob, mallory } = scene;
    const transfers = [
      { recipient: bob.address, amount: 1_000_000n },
      { recipient: mallory.address, amount: 2_000_000n },
    ];
    const both = (bobs: bigint, mallorys: bigint): TransactionInstruction[] => [
      paySol({ amount: bobs }),
      paySol({ to: mallory, amount: mallorys }),
    ];
    const payment = { ...sol, transfers };
    expect(await judge(payment, both(1_000_000n, 2_000_000n))).toBe("accepted");
    expect(await judge(payment, both(1_000_000n, 2_000_000n).toReversed())).toBe("accepted");
    expect(await judge(payment, both(2_000_000n, 1_000_000n))).toBe(MISMATCH);
    expect(await judge(payment, [paySol({ amount: 1_000_000n }), paySol({ amount: 2_000_000n })])).toBe(
      MISMATCH,
    );
    expect(await judge(payment, both(1_000_000n, 2_000_000n).slice(0, 1))).toBe(MISMATCH);
  });

  test("attack: a recipient declared twice and paid once is content_mismatch", async ({ scene }) => {
    const { judge, sol, paySol } = scene;
    const payment = { ...sol, transfers: [...sol.transfers, ...sol.transfers] };
    expect(await judge(payment, [paySol()])).toBe(MISMATCH);
  });

  test("attack: another's lamports, though the sender signs, is content_mismatch", async ({ scene }) => {
    const { judge, sol, paySol, mallory } = scene;
    expect(await judge(sol, [unsignedBy(mallory, paySol({ from: mallory }))])).toBe(MISMATCH);
  });

  test("attack: SOL to the recipient's token account is content_mismatch", async ({ scene }) => {
    const { judge, sol, paySol, bob, ata } = scene;
    const to = { address: ata(bob).toBase58() as Address };
    expect(await judge(sol, [paySol({ to })])).toBe(MISMATCH);
  });

  test("attack: wrapped SOL, or USDC of the same figure, for SOL is content_mismatch", async ({ scene }) => {
    const { judge, sol, payToken, createAta } = scene;
    const wrapped = NATIVE_MINT.toBase58() as Address;
    expect(await judge(sol, [payToken({ mint: wrapped, decimals: 9 })])).toBe(MISMATCH);
    expect(await judge(sol, [createAta({ mint: wrapped }), payToken({ mint: wrapped, decimals: 9 })])).toBe(
      MISMATCH,
    );
    expect(await judge(sol, [payToken()])).toBe(MISMATCH);
  });

  test("attack: a token account that a SOL payment has no use for is content_mismatch", async ({ scene }) => {
    const { judge, sol, paySol, createAta } = scene;
    expect(await judge(sol, [createAta(), paySol()])).toBe(MISMATCH);
  });
});

describe("W3: tokens", () => {
  test("attack: lamports of the same figure for tokens are content_mismatch", async ({ scene }) => {
    const { judge, usdc, paySol } = scene;
    expect(await judge(usdc, [paySol()])).toBe(MISMATCH);
  });

  test("attack: lamports beside the tokens, a tip for instance, are content_mismatch", async ({ scene }) => {
    const { judge, usdc, honest, paySol, mallory } = scene;
    expect(await judge(usdc, [...honest(usdc), paySol({ to: mallory, amount: 1n })])).toBe(MISMATCH);
    expect(await judge(usdc, [...honest(usdc), paySol({ amount: 1n })])).toBe(MISMATCH);
  });

  test("attack: the other stablecoin is content_mismatch, in both directions", async ({ scene }) => {
    const { judge, usdc, usdt, honest } = scene;
    expect(await judge(usdc, honest(usdt))).toBe(MISMATCH);
    expect(await judge(usdt, honest(usdc))).toBe(MISMATCH);
    expect(await judge(usdc, [...honest(usdc), ...honest(usdt)])).toBe(MISMATCH);
  });

  test("attack: the other mint named over the right accounts is content_mismatch", async ({ scene }) => {
    const { judge, usdc, payToken, createAta, mints, ata, alice, bob } = scene;
    const named = payToken({ mint: mints.USDT, source: ata(alice), to: ata(bob) });
    expect(await judge(usdc, [createAta(), named])).toBe(MISMATCH);
    const accountsOfOther = payToken({ source: ata(alice, mints.USDT), to: ata(bob, mints.USDT) });
    expect(await judge(usdc, [accountsOfOther])).toBe(MISMATCH);
  });

  test("attack: a worthless mint of the attacker's own, with the same decimals, is content_mismatch", async ({
    scene,
  }) => {
    const { alice, mallory, usdc, judge, payToken, createAta } = scene;
    const mint = scene.wallet("worthless", {});
    const twin = mint.address;
    await land(scene, {
      signers: [mallory, mint],
      instructions: [
        SystemProgram.createAccount({
          fromPubkey: keyOf(mallory),
          newAccountPubkey: keyOf(mint),
          lamports: 10_000_000,
          space: 82,
          programId: TOKEN_PROGRAM_ID,
        }),
        createInitializeMint2Instruction(keyOf(mint), 6, keyOf(mallory), null),
        scene.createAta({ owner: alice, payer: mallory, mint: twin }),
        createMintToInstruction(keyOf(mint), scene.ata(alice, twin), keyOf(mallory), AMOUNT),
      ],
    });
    expect(await judge({ ...usdc, mint: twin }, [createAta({ mint: twin }), payToken({ mint: twin })])).toBe(
      "accepted",
    );
    expect(await judge(usdc, [createAta({ mint: twin }), payToken({ mint: twin })])).toBe(MISMATCH);
  });

  test("attack: other decimals than the mint's are content_mismatch", async ({ scene }) => {
    const { judge, usdc, payToken, createAta } = scene;
    for (const decimals of [0, 5, 9, 255]) {
      expect(await judge(usdc, [createAta(), payToken({ decimals })])).toBe(MISMATCH);
    }
  });

  test.for([
    ["one unit less", AMOUNT - 1n],
    ["one unit more", AMOUNT + 1n],
    ["nothing", 0n],
    ["the largest amount there is", MODULUS - 1n],
  ] as const)("attack: %s is content_mismatch", async ([_what, amount], { scene }) => {
    const { judge, usdc, payToken, createAta } = scene;
    expect(await judge(usdc, [createAta(), payToken({ amount })])).toBe(MISMATCH);
  });

  test("attack: a further transfer, or the amount cut in two, is content_mismatch", async ({ scene }) => {
    const { judge, usdc, payToken, honest, ata, mallory, createAta } = scene;
    expect(await judge(usdc, [...honest(usdc), payToken()])).toBe(MISMATCH);
    expect(await judge(usdc, [...honest(usdc), payToken({ to: ata(mallory), amount: 1n })])).toBe(MISMATCH);
    const pieces = [payToken({ amount: 1n }), payToken({ amount: AMOUNT - 1n })];
    expect(await judge(usdc, [createAta(), ...pieces])).toBe(MISMATCH);
  });

  test("attack: another's token account as destination is content_mismatch", async ({ scene }) => {
    const { judge, usdc, payToken, ata, mallory } = scene;
    expect(await judge(usdc, [payToken({ to: ata(mallory) })])).toBe(MISMATCH);
  });

  test("attack: the recipient's own address, not a token account, as destination is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, payToken, bob } = scene;
    expect(await judge(usdc, [payToken({ to: keyOf(bob) })])).toBe(MISMATCH);
  });

  test("attack: a token account of the recipient's that is not the ATA is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, payToken, bob, mints } = scene;
    const other = await openTokenAccount(scene, bob, new PublicKey(mints.USDC));
    expect(await judge(usdc, [payToken({ to: other })])).toBe(MISMATCH);
  });

  test("attack: the recipient's ATA under Token-2022, or for the other mint, is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, payToken, bob, mints, ata } = scene;
    const [twin] = PublicKey.findProgramAddressSync(
      [keyOf(bob).toBytes(), TOKEN_2022_PROGRAM_ID.toBytes(), new PublicKey(mints.USDC).toBytes()],
      new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
    );
    expect(await judge(usdc, [payToken({ to: twin })])).toBe(MISMATCH);
    expect(await judge(usdc, [payToken({ to: ata(bob, mints.USDT) })])).toBe(MISMATCH);
  });

  test("attack: a transfer from an account to itself, which moves nothing, is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, payToken, createAta, ata, alice, bob } = scene;
    expect(await judge(usdc, [createAta(), payToken({ to: ata(alice) })])).toBe(MISMATCH);
    await land(scene, { signers: [alice], instructions: [createAta()] });
    expect(await judge(usdc, [payToken({ source: ata(bob) })])).toBe(MISMATCH);
  });

  test("a payment of one's own money to oneself is accepted when that is what was declared", async ({
    scene,
  }) => {
    const { judge, usdc, payToken, ata, alice } = scene;
    const payment = { ...usdc, transfers: [{ recipient: alice.address, amount: AMOUNT }] };
    expect(await judge(payment, [payToken({ to: ata(alice) })])).toBe("accepted");
  });
});

describe("W3: whose tokens pay", () => {
  test("another token account of the sender's own may pay", async ({ scene }) => {
    const { judge, usdc, alice, mints, createAta, payToken } = scene;
    const source = await openTokenAccount(scene, alice, new PublicKey(mints.USDC));
    expect(await judge(usdc, [createAta(), payToken({ source })])).toBe("accepted");
  });

  test("attack: another's tokens, the sender being their delegate, are content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, alice, mallory, ata, createAta, payToken } = scene;
    const approve = createApproveInstruction(ata(mallory), keyOf(alice), keyOf(mallory), 10_000_000n);
    await land(scene, { signers: [mallory], instructions: [approve] });
    expect(await judge(usdc, [createAta(), payToken({ source: ata(mallory) })])).toBe(MISMATCH);
  });

  test("attack: the sender's own ATA, given away, the sender staying its delegate, is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, mallory, ata, createAta, payToken } = scene;
    const dave = scene.wallet("dave", { lamports: 1_000_000_000n, usdc: 10_000_000n });
    const payment = { ...usdc, sender: dave.address };
    const instructions = [createAta({ payer: dave }), payToken({ authority: dave })];
    expect(await judge(payment, instructions, { signers: [dave] })).toBe("accepted");
    const approve = createApproveInstruction(ata(dave), keyOf(dave), keyOf(mallory), 10_000_000n);
    await land(scene, {
      signers: [dave, mallory],
      instructions: [giveAway(ata(dave), dave, mallory), approve],
    });
    // The chain itself would move Mallory's money on Dave's word.
    const moved = { signers: [dave], instructions };
    expect(await judge(payment, instructions, moved)).toBe(MISMATCH);
    await land(scene, moved);
  });

  test("attack: a source that is a wallet, does not exist, or holds the other mint is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, mallory, alice, mints, createAta, payToken } = scene;
    const nowhere = keyOf(scene.wallet("nowhere", {}));
    const other = await openTokenAccount(scene, alice, new PublicKey(mints.USDT));
    for (const source of [keyOf(mallory), keyOf(alice), nowhere, other]) {
      expect(await judge(usdc, [createAta(), payToken({ source })])).toBe(MISMATCH);
    }
  });

  test("attack: an account of another token program, of the sender's and of the declared mint, is content_mismatch", async ({
    scene,
  }) => {
    const { alice, mallory, judge, payToken } = scene;
    const mint = scene.wallet("mint of Token-2022", {});
    const program = TOKEN_2022_PROGRAM_ID;
    await land(scene, {
      signers: [mallory, mint],
      instructions: [
        SystemProgram.createAccount({
          fromPubkey: keyOf(mallory),
          newAccountPubkey: keyOf(mint),
          lamports: 10_000_000,
          space: 82,
          programId: program,
        }),
        createInitializeMint2Instruction(keyOf(mint), 6, keyOf(mallory), null, program),
      ],
    });
    const payment: DeclaredPayment = { ...scene.usdc, mint: mint.address };
    const source = await openTokenAccount(scene, alice, keyOf(mint), program);
    // Its bytes say that it is Alice's and holds the mint; only the account's own owner betrays it.
    expect(await judge(payment, [payToken({ mint: mint.address, source })])).toBe(MISMATCH);
    expect(await judge(payment, [payToken({ mint: mint.address })])).toBe("accepted");
  });

  test("attack: another authority than the sender, unsigned, is content_mismatch", async ({ scene }) => {
    const { judge, usdc, alice, mallory, ata, createAta, payToken } = scene;
    const source = ata(alice);
    const transfer = unsignedBy(mallory, payToken({ authority: mallory, source }));
    expect(await judge(usdc, [createAta(), transfer])).toBe(MISMATCH);
  });

  test("attack: a multisig as authority, the sender one of its signers, is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, alice, createAta, payToken } = scene;
    const multisig = scene.wallet("multisig", {});
    const transfer = unsignedBy(multisig, payToken({ authority: multisig }));
    transfer.keys.push({ pubkey: keyOf(alice), isSigner: true, isWritable: false });
    expect(await judge(usdc, [createAta(), transfer])).toBe(MISMATCH);
  });
});

describe("W3: whose account is paid", () => {
  test("attack: an ATA that its owner has given away is content_mismatch", async ({ scene }) => {
    const { judge, usdc, alice, mallory, ata, createAta, payToken } = scene;
    const carol = scene.wallet("carol", { lamports: 1_000_000_000n });
    const payment = { ...usdc, transfers: [{ recipient: carol.address, amount: 7n }] };
    const toCarol = payToken({ to: ata(carol), amount: 7n });
    expect(await judge(payment, [toCarol])).toBe("accepted");
    await land(scene, { signers: [alice], instructions: [createAta({ owner: carol })] });
    expect(await judge(payment, [toCarol])).toBe("accepted");
    await land(scene, { signers: [carol], instructions: [giveAway(ata(carol), carol, mallory)] });
    expect(await judge(payment, [toCarol])).toBe(MISMATCH);
    // With an instruction that creates it, before or behind, the chain itself notices.
    for (const instructions of [
      [createAta({ owner: carol }), toCarol],
      [toCarol, createAta({ owner: carol })],
    ]) {
      const text = await signed(scene, { signers: [alice], instructions });
      const answer = await scene.ledger.verifyPayment(text, payment);
      if ("refused" in answer) throw new Error(answer.refused);
      const fault = await scene.ledger.simulatePayment(answer.verified, payment);
      expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
    }
  });

  test("attack: of two recipients one has given the ATA away: content_mismatch", async ({ scene }) => {
    const { judge, usdc, alice, bob, mallory, ata, createAta, payToken } = scene;
    const erin = scene.wallet("erin", { lamports: 1_000_000_000n });
    await land(scene, { signers: [alice], instructions: [createAta({ owner: erin }), createAta()] });
    await land(scene, { signers: [erin], instructions: [giveAway(ata(erin), erin, mallory)] });
    for (const recipients of [
      [bob, erin],
      [erin, bob],
    ]) {
      const transfers = recipients.map(({ address }) => ({ recipient: address, amount: AMOUNT }));
      const paid = recipients.map((owner) => payToken({ to: ata(owner) }));
      expect(await judge({ ...usdc, transfers }, paid)).toBe(MISMATCH);
      // The creation of the other's account proves nothing for this one.
      expect(await judge({ ...usdc, transfers }, [createAta(), ...paid])).toBe(MISMATCH);
    }
  });

  test("attack: a token account for one who was not declared is content_mismatch", async ({ scene }) => {
    const { judge, usdc, alice, mallory, honest, createAta } = scene;
    for (const owner of [mallory, alice]) {
      expect(await judge(usdc, [createAta({ owner }), ...honest(usdc)])).toBe(MISMATCH);
    }
  });

  test("attack: a token account for the recipient in the other mint is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, honest, createAta, mints } = scene;
    expect(await judge(usdc, [createAta({ mint: mints.USDT }), ...honest(usdc)])).toBe(MISMATCH);
  });

  test("attack: the other mint, or another owner, named over the recipient's ATA is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, payToken, createAta, mints, mallory, bob, ata } = scene;
    const otherMint = createAta({ account: ata(bob), mint: mints.USDT });
    const otherOwner = createAta({ account: ata(bob), owner: mallory });
    const otherAccount = createAta({ account: ata(mallory) });
    for (const create of [otherMint, otherOwner, otherAccount]) {
      expect(await judge(usdc, [create, payToken()])).toBe(MISMATCH);
    }
  });

  test("attack: a token account at another's cost, unsigned, is content_mismatch", async ({ scene }) => {
    const { judge, usdc, payToken, createAta, mallory } = scene;
    expect(await judge(usdc, [unsignedBy(mallory, createAta({ payer: mallory })), payToken()])).toBe(
      MISMATCH,
    );
  });

  test("attack: the recipient's account under Token-2022 is content_mismatch", async ({ scene }) => {
    const { judge, usdc, payToken, createAta } = scene;
    expect(await judge(usdc, [createAta({ program: TOKEN_2022_PROGRAM_ID }), payToken()])).toBe(MISMATCH);
  });
});
