/** What an instruction may be: wallets' own are tolerated, everything else is refused wherever it is hidden (W4, W6). */
import {
  AuthorityType,
  createApproveCheckedInstruction,
  createApproveInstruction,
  createAssociatedTokenAccountInstruction,
  createBurnCheckedInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createFreezeAccountInstruction,
  createInitializeAccount3Instruction,
  createMintToInstruction,
  createRecoverNestedInstruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Ed25519Program,
  PublicKey,
  StakeProgram,
  SystemInstruction,
  SystemProgram,
  TransactionInstruction,
  VoteProgram,
} from "@solana/web3.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DeclaredPayment } from "../../src/ledger/ledger.ts";
import { keyOf, signed } from "./signed-transaction.ts";
import { AMOUNT, instruction, verifyScene, type VerifyScene } from "./verify-scene.ts";

let scene: VerifyScene;

beforeAll(async () => {
  scene = await verifyScene();
});
beforeEach(() => scene.chain.advance(1));
afterAll(() => scene.close());

const LIGHTHOUSE = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95";
const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const MEMO_1 = "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo";
const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";
const ASSOCIATED_TOKEN = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const SYSTEM = SystemProgram.programId;

/** The verdict on an honest payment with this instruction in it, which must be the same wherever it stands. */
async function judgeHidden(hidden: TransactionInstruction, payment?: DeclaredPayment): Promise<string> {
  const verdicts = new Set<string>();
  for (const declared of payment === undefined ? [scene.sol, scene.usdc] : [payment]) {
    const honest = scene.honest(declared);
    for (let at = 0; at <= honest.length; at += 1) {
      verdicts.add(await scene.judge(declared, honest.toSpliced(at, 0, hidden)));
    }
  }
  return [...verdicts].join(" or ");
}

const price = (microLamports: bigint): TransactionInstruction =>
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
const limit = (units: number): TransactionInstruction => ComputeBudgetProgram.setComputeUnitLimit({ units });

describe("W4: what wallets add", () => {
  test("W4: every assertion of Lighthouse is accepted anywhere, also over writable accounts", async () => {
    for (let type = 2; type <= 16; type += 1) {
      const assertion = instruction(LIGHTHOUSE, [type, 0, 1, 2, 3], [keyOf(scene.alice)]);
      for (const key of assertion.keys) key.isWritable = true;
      expect(await judgeHidden(assertion), `type ${type}`).toBe("accepted");
    }
  });

  test("W4: memos of both versions, with the sender as their signer or with none, are accepted anywhere", async () => {
    for (const program of [MEMO, MEMO_1]) {
      for (const signers of [[], [keyOf(scene.alice)]]) {
        expect(await judgeHidden(instruction(program, Buffer.from("invoice 7"), signers))).toBe("accepted");
      }
    }
  });

  test("W4: compute limit, price, heap and loaded data size are accepted anywhere", async () => {
    const heap = ComputeBudgetProgram.requestHeapFrame({ bytes: 32_768 });
    const loaded = instruction(COMPUTE_BUDGET, [4, 0, 0, 1, 0]);
    for (const each of [limit(200_000), price(10_000n), heap, loaded]) {
      expect(await judgeHidden(each)).toBe("accepted");
    }
  });

  test("Solana Pay's reference keys behind a transfer's accounts are accepted", async () => {
    for (const payment of [scene.sol, scene.usdc]) {
      const instructions = scene.honest(payment);
      const reference = { pubkey: keyOf(scene.mallory), isSigner: false, isWritable: false };
      instructions.at(-1)?.keys.push(reference, { ...reference, pubkey: keyOf(scene.bob) });
      expect(await scene.judge(payment, instructions)).toBe("accepted");
    }
  });

  test("an account is created with data 0, with data 1, or with none, as all versions of the program had it", async () => {
    const { usdc, createAta, payToken, judge } = scene;
    for (const data of [[], [0], [1]]) {
      const { programId, keys } = createAta();
      const create = new TransactionInstruction({ programId, keys, data: Buffer.from(data) });
      expect(await judge(usdc, [create, payToken()])).toBe("accepted");
    }
  });
});

describe("W3: the System program's other instructions", () => {
  test("attack: TransferWithSeed for the transfer is instruction_not_allowed", async () => {
    const { alice, bob, sol, judge } = scene;
    const transfer = SystemProgram.transfer({
      fromPubkey: keyOf(alice),
      basePubkey: keyOf(alice),
      toPubkey: keyOf(bob),
      lamports: AMOUNT,
      seed: "",
      programId: SYSTEM,
    });
    expect(SystemInstruction.decodeInstructionType(transfer)).toBe("TransferWithSeed");
    expect(await judge(sol, [transfer])).toBe("instruction_not_allowed");
    expect(await judgeHidden(transfer)).toBe("instruction_not_allowed");
  });

  const system: [string, () => TransactionInstruction][] = [
    [
      "CreateAccount",
      () =>
        SystemProgram.createAccount({
          fromPubkey: keyOf(scene.alice),
          newAccountPubkey: keyOf(scene.alice),
          lamports: 1,
          space: 0,
          programId: SYSTEM,
        }),
    ],
    [
      "CreateAccountWithSeed",
      () =>
        SystemProgram.createAccountWithSeed({
          fromPubkey: keyOf(scene.alice),
          newAccountPubkey: keyOf(scene.mallory),
          basePubkey: keyOf(scene.alice),
          seed: "s",
          lamports: 1_000_000,
          space: 0,
          programId: SYSTEM,
        }),
    ],
    [
      "Assign",
      () => SystemProgram.assign({ accountPubkey: keyOf(scene.alice), programId: keyOf(scene.mallory) }),
    ],
    [
      "AssignWithSeed",
      () =>
        SystemProgram.assign({
          accountPubkey: keyOf(scene.alice),
          basePubkey: keyOf(scene.alice),
          seed: "s",
          programId: keyOf(scene.mallory),
        }),
    ],
    ["Allocate", () => SystemProgram.allocate({ accountPubkey: keyOf(scene.alice), space: 1 })],
    [
      "AllocateWithSeed",
      () =>
        SystemProgram.allocate({
          accountPubkey: keyOf(scene.alice),
          basePubkey: keyOf(scene.alice),
          seed: "s",
          space: 1,
          programId: keyOf(scene.mallory),
        }),
    ],
    [
      "WithdrawNonceAccount",
      () =>
        SystemProgram.nonceWithdraw({
          noncePubkey: keyOf(scene.mallory),
          authorizedPubkey: keyOf(scene.alice),
          toPubkey: keyOf(scene.mallory),
          lamports: 1,
        }),
    ],
    [
      "AuthorizeNonceAccount",
      () =>
        SystemProgram.nonceAuthorize({
          noncePubkey: keyOf(scene.mallory),
          authorizedPubkey: keyOf(scene.alice),
          newAuthorizedPubkey: keyOf(scene.mallory),
        }),
    ],
    [
      "InitializeNonceAccount",
      () => instruction(SYSTEM, [6, 0, 0, 0, ...Buffer.alloc(32)], [keyOf(scene.alice)]),
    ],
    ["UpgradeNonceAccount", () => instruction(SYSTEM, [12, 0, 0, 0], [keyOf(scene.mallory)])],
    [
      "one that does not exist yet",
      () => instruction(SYSTEM, [13, 0, 0, 0, ...Buffer.alloc(8)], [keyOf(scene.alice), keyOf(scene.bob)]),
    ],
    [
      "one whose number has a high byte",
      () => instruction(SYSTEM, [2, 0, 0, 1, ...Buffer.alloc(8)], [keyOf(scene.alice), keyOf(scene.bob)]),
    ],
    ["one without data", () => instruction(SYSTEM, [])],
    ["one of three bytes", () => instruction(SYSTEM, [2, 0, 0])],
  ];
  test.each(system)("attack: %s hidden in a payment is instruction_not_allowed", async (_name, hidden) => {
    expect(await judgeHidden(hidden())).toBe("instruction_not_allowed");
  });

  test("W18: attack: a nonce that is advanced, first or anywhere, makes bytes that never die: durable_nonce", async () => {
    const advance = SystemProgram.nonceAdvance({
      noncePubkey: keyOf(scene.mallory),
      authorizedPubkey: keyOf(scene.alice),
    });
    expect(await judgeHidden(advance)).toBe("durable_nonce");
    const { programId, keys, data } = advance;
    // The runtime ignores what follows the number.
    const longer = new TransactionInstruction({
      programId,
      keys,
      data: Buffer.concat([data, Buffer.alloc(8)]),
    });
    expect(await judgeHidden(longer)).toBe("durable_nonce");
    expect(await judgeHidden(instruction(SYSTEM, [4, 0, 0, 0]))).toBe("durable_nonce");
  });

  test("attack: a nonce beside a program that is not allowed is still durable_nonce", async () => {
    const { sol, judge, paySol, mallory } = scene;
    const hidden = [instruction(mallory.address, [1]), instruction(SYSTEM, [4, 0, 0, 0])];
    expect(await judge(sol, [paySol(), ...hidden])).toBe("durable_nonce");
  });
});

describe("W3: the Token program's other instructions", () => {
  const token: [string, () => TransactionInstruction][] = [
    ["Transfer", () => createTransferInstruction(own(), scene.ata(scene.bob), keyOf(scene.alice), AMOUNT)],
    ["Approve", () => createApproveInstruction(own(), keyOf(scene.mallory), keyOf(scene.alice), AMOUNT)],
    [
      "ApproveChecked",
      () =>
        createApproveCheckedInstruction(
          own(),
          usdcMint(),
          keyOf(scene.mallory),
          keyOf(scene.alice),
          AMOUNT,
          6,
        ),
    ],
    ["Revoke", () => createRevokeInstruction(own(), keyOf(scene.alice))],
    [
      "SetAuthority of the owner",
      () =>
        createSetAuthorityInstruction(
          own(),
          keyOf(scene.alice),
          AuthorityType.AccountOwner,
          keyOf(scene.mallory),
        ),
    ],
    [
      "SetAuthority of closing",
      () =>
        createSetAuthorityInstruction(
          own(),
          keyOf(scene.alice),
          AuthorityType.CloseAccount,
          keyOf(scene.mallory),
        ),
    ],
    ["CloseAccount", () => createCloseAccountInstruction(own(), keyOf(scene.mallory), keyOf(scene.alice))],
    ["Burn", () => createBurnInstruction(own(), usdcMint(), keyOf(scene.alice), 1n)],
    ["BurnChecked", () => createBurnCheckedInstruction(own(), usdcMint(), keyOf(scene.alice), 1n, 6)],
    ["MintTo", () => createMintToInstruction(usdcMint(), own(), keyOf(scene.alice), 1n)],
    ["FreezeAccount", () => createFreezeAccountInstruction(own(), usdcMint(), keyOf(scene.alice))],
    ["SyncNative", () => createSyncNativeInstruction(own())],
    [
      "InitializeAccount3",
      () => createInitializeAccount3Instruction(own(), usdcMint(), keyOf(scene.mallory)),
    ],
    // p-token's: 38 takes lamports out of an account, 45 unwraps SOL, 255 holds a batch of other instructions.
    [
      "WithdrawExcessLamports",
      () => instruction(TOKEN_PROGRAM_ID, [38], [own(), keyOf(scene.mallory), keyOf(scene.alice)]),
    ],
    [
      "UnwrapLamports",
      () => instruction(TOKEN_PROGRAM_ID, [45, 0], [own(), keyOf(scene.mallory), keyOf(scene.alice)]),
    ],
    [
      "Batch",
      () =>
        instruction(
          TOKEN_PROGRAM_ID,
          [255, 3, 9, 3, ...Buffer.alloc(8)],
          [own(), scene.ata(scene.mallory), keyOf(scene.alice)],
        ),
    ],
    ["one without data", () => instruction(TOKEN_PROGRAM_ID, [])],
  ];
  const own = (): PublicKey => scene.ata(scene.alice);
  const usdcMint = (): PublicKey => new PublicKey(scene.mints.USDC);

  test.each(token)("attack: %s hidden in a payment is instruction_not_allowed", async (_name, hidden) => {
    expect(await judgeHidden(hidden())).toBe("instruction_not_allowed");
  });

  test("attack: the unchecked Transfer for the transfer, which names no mint, is instruction_not_allowed", async () => {
    const { alice, bob, usdc, ata, judge, createAta } = scene;
    const transfer = createTransferInstruction(ata(alice), ata(bob), keyOf(alice), AMOUNT);
    expect(await judge(usdc, [createAta(), transfer])).toBe("instruction_not_allowed");
  });

  test("attack: the same transfer under Token-2022 is instruction_not_allowed", async () => {
    const { alice, bob, usdc, ata, judge, createAta } = scene;
    const key = keyOf(alice);
    const twin = createTransferCheckedInstruction(
      ata(alice),
      usdcMint(),
      ata(bob),
      key,
      AMOUNT,
      6,
      [],
      TOKEN_2022_PROGRAM_ID,
    );
    expect(await judge(usdc, [createAta(), twin])).toBe("instruction_not_allowed");
    expect(await judgeHidden(twin)).toBe("instruction_not_allowed");
  });
});

describe("W3: instructions with more or less than their program defines", () => {
  test("attack: transfers with a byte more or less of data are instruction_not_allowed", async () => {
    const { sol, usdc, paySol, payToken, judge } = scene;
    for (const [payment, { programId, keys, data }] of [
      [sol, paySol()],
      [usdc, payToken()],
    ] as const) {
      for (const bent of [Buffer.concat([data, Buffer.alloc(1)]), Buffer.from(data.subarray(0, -1))]) {
        const transfer = new TransactionInstruction({ programId, keys, data: bent });
        expect(await judge(payment, [transfer])).toBe("instruction_not_allowed");
      }
    }
  });

  test("attack: transfers and creations that lack an account are instruction_not_allowed", async () => {
    const { sol, usdc, paySol, payToken, createAta, judge } = scene;
    for (const [payment, { programId, keys, data }] of [
      [sol, paySol()],
      [usdc, payToken()],
      [usdc, createAta()],
    ] as const) {
      for (let count = 0; count < keys.length; count += 1) {
        const cut = new TransactionInstruction({ programId, keys: keys.slice(0, count), data });
        expect(await judge(payment, [cut]), `${count} accounts`).toBe("instruction_not_allowed");
      }
    }
  });

  test("attack: RecoverNested, which moves tokens, is instruction_not_allowed", async () => {
    const { alice, mints, ata } = scene;
    const mint = new PublicKey(mints.USDC);
    const nested = createRecoverNestedInstruction(
      ata(alice),
      mint,
      ata(alice),
      ata(alice),
      mint,
      keyOf(alice),
    );
    expect(await judgeHidden(nested)).toBe("instruction_not_allowed");
  });

  test("attack: a creation with data that no version of the program has is instruction_not_allowed", async () => {
    const { usdc, createAta, payToken, judge } = scene;
    const { programId, keys } = createAta();
    for (const data of [[3], [255], [1, 0], [0, 0], [1, 1, 1]]) {
      const create = new TransactionInstruction({ programId, keys, data: Buffer.from(data) });
      expect(await judge(usdc, [create, payToken()]), data.join()).toBe("instruction_not_allowed");
    }
  });

  test("attack: a creation with another program in the System program's place is instruction_not_allowed", async () => {
    const { alice, bob, mallory, usdc, ata, mints, judge, payToken } = scene;
    const mint = new PublicKey(mints.USDC);
    const create = createAssociatedTokenAccountInstruction(keyOf(alice), ata(bob), keyOf(bob), mint);
    const keys = create.keys.map((key) =>
      key.pubkey.equals(SYSTEM) ? { ...key, pubkey: keyOf(mallory) } : key,
    );
    const bent = new TransactionInstruction({ programId: create.programId, keys, data: create.data });
    expect(await judge(usdc, [bent, payToken()])).toBe("instruction_not_allowed");
  });
});

describe("W3: the priority fee", () => {
  test("attack: a price that eats the sender's balance is content_mismatch, a generous one is not", async () => {
    const { sol, usdc, judge, honest } = scene;
    for (const payment of [sol, usdc]) {
      const pay = honest(payment);
      expect(await judge(payment, [limit(100_000), price(500_000_000n), ...pay])).toBe("accepted");
      expect(await judge(payment, [limit(100_000), price(500_000_001n), ...pay])).toBe("content_mismatch");
      expect(await judge(payment, [...pay, price(500_000_001n), limit(100_000)])).toBe("content_mismatch");
    }
  });

  test("attack: a price that is dear only without a limit, or with one beyond the chain's, is content_mismatch", async () => {
    const { sol, judge, paySol } = scene;
    const dearest = 35_714_285n;
    expect(await judge(sol, [price(dearest), paySol()])).toBe("accepted");
    expect(await judge(sol, [price(dearest + 1n), paySol()])).toBe("content_mismatch");
    expect(await judge(sol, [limit(4_294_967_295), price(dearest), paySol()])).toBe("accepted");
    expect(await judge(sol, [limit(4_294_967_295), price(dearest + 1n), paySol()])).toBe("content_mismatch");
  });

  test("attack: the largest price, whose product exceeds 64 bits, is content_mismatch", async () => {
    const { sol, judge, paySol } = scene;
    for (const units of [1, 100_000, 1_400_000]) {
      expect(await judge(sol, [limit(units), price(2n ** 64n - 1n), paySol()])).toBe("content_mismatch");
    }
  });

  test("attack: a dear price behind which a cheap one stands is content_mismatch, and two limits as well", async () => {
    const { sol, judge, paySol } = scene;
    expect(await judge(sol, [price(2n ** 63n), price(1n), paySol()])).toBe("content_mismatch");
    expect(await judge(sol, [price(1n), paySol(), price(1n)])).toBe("content_mismatch");
    expect(await judge(sol, [limit(1_400_000), limit(1_000), price(1n), paySol()])).toBe("content_mismatch");
  });

  test("attack: two heap frames can be verified, but the chain refuses them", async () => {
    const heap = ComputeBudgetProgram.requestHeapFrame({ bytes: 65_536 });
    const { alice, sol, paySol, ledger } = scene;
    const text = await signed(scene, { signers: [alice], instructions: [heap, paySol(), heap] });
    const answer = await ledger.verifyPayment(text, sol);
    if ("refused" in answer) throw new Error(answer.refused);
    const fault = await ledger.simulatePayment(answer.verified, sol);
    expect(fault).toMatchObject({ kind: "would_fail", reason: "program_error" });
  });

  test.each([
    ["the retired RequestUnits, which set a fee", [0, 0, 0, 0, 0, 255, 255, 255, 255]],
    ["one that does not exist", [5, 0, 0, 0, 0]],
    ["a price of four bytes", [3, 0, 0, 0, 0]],
    ["a price of nine bytes", [3, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["a limit of five bytes", [2, 0, 0, 0, 0, 0]],
    ["a limit of three bytes", [2, 0, 0, 0]],
    ["a limit of eight bytes", [2, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["a heap frame of eight bytes", [1, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["one without data", []],
  ])("attack: of Compute Budget, %s is instruction_not_allowed", async (_what, data) => {
    expect(await judgeHidden(instruction(COMPUTE_BUDGET, data))).toBe("instruction_not_allowed");
  });
});

describe("W6: other programs", () => {
  test.each([
    ["MemoryWrite", [0, 0, 0, 0, 0]],
    ["MemoryClose", [1, 0, 0]],
    ["one without data", []],
    ["one that does not exist yet", [17, 0]],
    ["255", [255]],
  ])("attack: of Lighthouse, %s, which is no assertion, is instruction_not_allowed", async (_what, data) => {
    expect(await judgeHidden(instruction(LIGHTHOUSE, data, [keyOf(scene.alice)]))).toBe(
      "instruction_not_allowed",
    );
  });

  test.each([
    ["Token-2022", TOKEN_2022_PROGRAM_ID],
    ["Stake", StakeProgram.programId],
    ["Vote", VoteProgram.programId],
    ["the address lookup table program", AddressLookupTableProgram.programId],
    ["the upgradeable loader", new PublicKey("BPFLoaderUpgradeab1e11111111111111111111111")],
    ["Ed25519 verification, which costs a signature", Ed25519Program.programId],
    ["a program one letter off Memo", new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHs")],
    ["a sysvar", new PublicKey("Sysvar1nstructions1111111111111111111111111")],
  ])("attack: %s is instruction_not_allowed", async (_name, program) => {
    for (const data of [[], [2, 0, 0, 0, ...Buffer.alloc(8)], [12, ...Buffer.alloc(9)], [1]]) {
      expect(await judgeHidden(instruction(program, data, [keyOf(scene.alice)]))).toBe(
        "instruction_not_allowed",
      );
    }
  });

  test("attack: the recipient, a token account or a mint as program is instruction_not_allowed", async () => {
    const { bob, alice, ata, mints, paySol } = scene;
    for (const program of [keyOf(bob), ata(alice), new PublicKey(mints.USDC)]) {
      expect(await judgeHidden(instruction(program, paySol().data, [keyOf(alice), keyOf(bob)]))).toBe(
        "instruction_not_allowed",
      );
    }
  });

  test("attack: the ATA program's wallet instructions under another program's id are instruction_not_allowed", async () => {
    const { keys, data } = scene.createAta();
    const bent = new TransactionInstruction({ programId: new PublicKey(scene.mallory.address), keys, data });
    expect(new PublicKey(ASSOCIATED_TOKEN).equals(bent.programId)).toBe(false);
    expect(await judgeHidden(bent)).toBe("instruction_not_allowed");
  });
});
