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

/** The payment that is declared, and what its sender signs in place of it, each time another. */
type Attempts = readonly [DeclaredPayment, ...(readonly TransactionInstruction[])[]];
type Attack = readonly [what: string, attempts: (scene: VerifyScene) => Attempts];

const WRAPPED = NATIVE_MINT.toBase58() as Address;
const AMOUNTS = [AMOUNT - 1n, AMOUNT + 1n, 0n, MODULUS - 1n, BigInt.asUintN(64, AMOUNT << 40n)];

const OF_SOL: readonly Attack[] = [
  [
    "another recipient",
    ({ sol, paySol, mallory, alice }) => [sol, [paySol({ to: mallory })], [paySol({ to: alice })]],
  ],
  [
    "a lamport less or more, nothing, all there is, or the bytes in their other order",
    ({ sol, paySol }) => [sol, ...AMOUNTS.map((amount) => [paySol({ amount })])],
  ],
  [
    "a further transfer, before or behind",
    ({ sol, paySol, mallory }) => {
      const extras = [paySol({ to: mallory, amount: 1n }), paySol({ to: mallory, amount: 0n }), paySol()];
      return [
        sol,
        ...extras.flatMap((extra) => [
          [paySol(), extra],
          [extra, paySol()],
        ]),
      ];
    },
  ],
  [
    "the amount cut in two transfers, though the sum is right, also modulo 2^64",
    ({ sol, paySol }) => [
      sol,
      [paySol({ amount: AMOUNT - 1n }), paySol({ amount: 1n })],
      [paySol({ amount: MODULUS - 1n }), paySol({ amount: AMOUNT + 1n })],
    ],
  ],
  ["no transfer at all", ({ sol }) => [sol, []]],
  [
    "a recipient declared twice and paid once",
    ({ sol, paySol }) => [{ ...sol, transfers: [...sol.transfers, ...sol.transfers] }, [paySol()]],
  ],
  [
    "another's lamports, though the sender signs",
    ({ sol, paySol, mallory }) => [sol, [unsignedBy(mallory, paySol({ from: mallory }))]],
  ],
  [
    "SOL to the recipient's token account",
    ({ sol, paySol, bob, ata }) => [sol, [paySol({ to: { address: ata(bob).toBase58() as Address } })]],
  ],
  [
    "wrapped SOL, or USDC of the same figure, for SOL",
    ({ sol, payToken, createAta }) => [
      sol,
      [payToken({ mint: WRAPPED, decimals: 9 })],
      [createAta({ mint: WRAPPED }), payToken({ mint: WRAPPED, decimals: 9 })],
      [payToken()],
    ],
  ],
  [
    "a token account that a SOL payment has no use for",
    ({ sol, paySol, createAta }) => [sol, [createAta(), paySol()]],
  ],
];

const OF_TOKENS: readonly Attack[] = [
  ["lamports of the same figure", ({ usdc, paySol }) => [usdc, [paySol()]]],
  [
    "lamports beside the tokens, a tip for instance",
    ({ usdc, honest, paySol, mallory }) => [
      usdc,
      [...honest(usdc), paySol({ to: mallory, amount: 1n })],
      [...honest(usdc), paySol({ amount: 1n })],
    ],
  ],
  [
    "the other stablecoin",
    ({ usdc, usdt, honest }) => [usdc, honest(usdt), [...honest(usdc), ...honest(usdt)]],
  ],
  ["the other stablecoin, the other way round", ({ usdc, usdt, honest }) => [usdt, honest(usdc)]],
  [
    "the other mint named over the right accounts, and the right one over the other's",
    ({ usdc, payToken, createAta, mints: { USDT }, ata, alice, bob }) => [
      usdc,
      [createAta(), payToken({ mint: USDT, source: ata(alice), to: ata(bob) })],
      [payToken({ source: ata(alice, USDT), to: ata(bob, USDT) })],
    ],
  ],
  [
    "other decimals than the mint's",
    ({ usdc, payToken, createAta }) => [
      usdc,
      ...[0, 5, 9, 255].map((decimals) => [createAta(), payToken({ decimals })]),
    ],
  ],
  [
    "a unit less or more, nothing, or all there is",
    ({ usdc, payToken, createAta }) => [
      usdc,
      ...AMOUNTS.map((amount) => [createAta(), payToken({ amount })]),
    ],
  ],
  [
    "a further transfer, or the amount cut in two",
    ({ usdc, payToken, honest, ata, mallory, createAta }) => [
      usdc,
      [...honest(usdc), payToken()],
      [...honest(usdc), payToken({ to: ata(mallory), amount: 1n })],
      [createAta(), payToken({ amount: 1n }), payToken({ amount: AMOUNT - 1n })],
    ],
  ],
  [
    "another's token account, the recipient's own address, or his account of the other mint as destination",
    ({ usdc, payToken, ata, mallory, bob, mints }) => [
      usdc,
      ...[ata(mallory), keyOf(bob), ata(bob, mints.USDT)].map((to) => [payToken({ to })]),
    ],
  ],
  [
    "the recipient's ATA under Token-2022",
    ({ usdc, payToken, createAta, bob, mints }) => {
      const [twin] = PublicKey.findProgramAddressSync(
        [keyOf(bob).toBytes(), TOKEN_2022_PROGRAM_ID.toBytes(), new PublicKey(mints.USDC).toBytes()],
        new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
      );
      return [usdc, [payToken({ to: twin })], [createAta({ program: TOKEN_2022_PROGRAM_ID }), payToken()]];
    },
  ],
  [
    "another authority than the sender, unsigned",
    ({ usdc, alice, mallory, ata, createAta, payToken }) => [
      usdc,
      [createAta(), unsignedBy(mallory, payToken({ authority: mallory, source: ata(alice) }))],
    ],
  ],
  [
    "a multisig as authority, the sender one of its signers",
    ({ usdc, alice, wallet, createAta, payToken }) => {
      const multisig = wallet("multisig", {});
      const transfer = unsignedBy(multisig, payToken({ authority: multisig }));
      transfer.keys.push({ pubkey: keyOf(alice), isSigner: true, isWritable: false });
      return [usdc, [createAta(), transfer]];
    },
  ],
  [
    "a token account for one who was not declared, or in the other mint",
    ({ usdc, alice, mallory, honest, createAta, mints }) => [
      usdc,
      ...[{ owner: mallory }, { owner: alice }, { mint: mints.USDT }].map((other) => [
        createAta(other),
        ...honest(usdc),
      ]),
    ],
  ],
  [
    "the other mint, or another owner, named over the recipient's ATA",
    ({ usdc, payToken, createAta, mints, mallory, bob, ata }) => [
      usdc,
      [createAta({ account: ata(bob), mint: mints.USDT }), payToken()],
      [createAta({ account: ata(bob), owner: mallory }), payToken()],
      [createAta({ account: ata(mallory) }), payToken()],
    ],
  ],
  [
    "a token account at another's cost, unsigned",
    ({ usdc, payToken, createAta, mallory }) => [
      usdc,
      [unsignedBy(mallory, createAta({ payer: mallory })), payToken()],
    ],
  ],
];

const ATTACKS = [
  ...OF_SOL.map(([what, attempts]) => ["SOL", what, attempts] as const),
  ...OF_TOKENS.map(([what, attempts]) => ["tokens", what, attempts] as const),
];

test.for(ATTACKS)("W3: attack: of %s, %s is content_mismatch", async ([, , attempts], { scene }) => {
  const [payment, ...lists] = attempts(scene);
  for (const instructions of lists) expect(await scene.judge(payment, instructions)).toBe(MISMATCH);
});

describe("W3: attack", () => {
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

  test("attack: a token account of the recipient's that is not the ATA is content_mismatch", async ({
    scene,
  }) => {
    const { judge, usdc, payToken, bob, mints } = scene;
    const other = await openTokenAccount(scene, bob, new PublicKey(mints.USDC));
    expect(await judge(usdc, [payToken({ to: other })])).toBe(MISMATCH);
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
});
