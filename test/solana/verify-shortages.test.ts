/** From every error that simulation knows to what a payer is told, in SOL and both stablecoins (W15, W16, W17). */
import {
  createFreezeAccountInstruction,
  createInitializeAccount3Instruction,
  createThawAccountInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { ComputeBudgetProgram, PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { describe, expect } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { DeclaredPayment, SimulationFault, Transfer } from "../../src/ledger/ledger.ts";
import type { Funds } from "../../src/local/index.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { keyOf, land, signed } from "./signed-transaction.ts";
import { instruction, type VerifyScene } from "./verify-scene.ts";
import { verifyTest } from "./verify-test.ts";

/** What accounts cost. */
interface Priced extends VerifyScene {
  readonly rentOfEmpty: bigint;
  readonly rentOfToken: bigint;
}

const test = verifyTest.extend("scene", async ({ scene }): Promise<Priced> => {
  const { rent: rentOfToken } = await scene.ledger.paymentCost(scene.mints.USDC, null);
  // Rent is counted for 128 bytes more than an account has; a token account has 165.
  return { ...scene, rentOfToken, rentOfEmpty: (rentOfToken * 128n) / (128n + 165n) };
});

let names = 0;

const FEE = 5_000n;
const SOL = 1_000_000_000n;
const MEMO = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";

const somebody = (scene: Priced, funds: Funds = {}): Wallet =>
  scene.wallet(`somebody ${(names += 1)}`, funds);
const holding = (scene: Priced, coin: "USDC" | "USDT", lamports: bigint, tokens: bigint): Wallet =>
  somebody(scene, {
    ...(lamports > 0n ? { lamports } : {}),
    ...(coin === "USDC" ? { usdc: tokens } : { usdt: tokens }),
  });
const pays = (
  sender: Wallet,
  mint: Address | null,
  ...transfers: (readonly [Wallet, bigint])[]
): DeclaredPayment => ({
  sender: sender.address,
  mint,
  decimals: mint === null ? 9 : 6,
  transfers: transfers.map(([{ address }, amount]): Transfer => ({ recipient: address, amount })),
});
const priceOf = (lamports: bigint): TransactionInstruction[] => [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: lamports * 5n }),
];

/** What simulation says of these instructions, once they are verified. */
async function simulate(
  scene: Priced,
  payment: DeclaredPayment,
  sender: Wallet,
  instructions: readonly TransactionInstruction[],
): Promise<SimulationFault | null> {
  const text = await signed(scene, { signers: [sender], instructions });
  const answer = await scene.ledger.verifyPayment(text, payment);
  if ("refused" in answer) throw new Error(answer.refused);
  return await scene.ledger.simulatePayment(answer.verified, payment);
}

/** The fault when a node says that simulation ended with this error. */
async function explained(
  scene: Priced,
  payment: DeclaredPayment,
  sender: Wallet,
  instructions: readonly TransactionInstruction[],
  err: unknown,
): Promise<SimulationFault | null> {
  const lift = scene.chain.faults.add(({ method }) =>
    method === "simulateTransaction"
      ? {
          kind: "lie",
          answer: (honest) => {
            const { context, value } = honest as { context: unknown; value: object };
            return { context, value: { ...value, err } };
          },
        }
      : undefined,
  );
  try {
    return await simulate(scene, payment, sender, instructions);
  } finally {
    lift();
  }
}

const PROGRAM_ERROR = { kind: "would_fail", reason: "program_error" };

describe("SOL", () => {
  test("AccountNotFound: a sender who does not exist lacks amount and fee", async ({ scene }) => {
    const sender = somebody(scene);
    const payment = pays(sender, null, [scene.bob, SOL]);
    expect(await simulate(scene, payment, sender, [scene.paySol({ from: sender, amount: SOL })])).toEqual({
      kind: "insufficient_balance",
      component: "amount",
      mint: null,
      required: SOL + FEE,
      available: 0n,
    });
  });

  test("InsufficientFundsForFee: a fee beyond the balance is asked for together with the amount", async ({
    scene,
  }) => {
    const sender = somebody(scene, { lamports: 1_000_000n });
    const payment = pays(sender, null, [scene.bob, 7n]);
    const instructions = [...priceOf(2_000_000n), scene.paySol({ from: sender, amount: 7n })];
    expect(await simulate(scene, payment, sender, instructions)).toEqual({
      kind: "insufficient_balance",
      component: "amount",
      mint: null,
      required: 7n + FEE + 2_000_000n,
      available: 1_000_000n,
    });
  });

  test("System's custom error 1: the second of two transfers finds too little, and the sum of both is asked for", async ({
    scene,
  }) => {
    const sender = somebody(scene, { lamports: 2n * SOL });
    const other = somebody(scene, { lamports: SOL });
    const payment = pays(sender, null, [scene.bob, SOL], [other, SOL]);
    const instructions = [scene.bob, other].map((to) => scene.paySol({ from: sender, to, amount: SOL }));
    expect(await simulate(scene, payment, sender, instructions)).toEqual({
      kind: "insufficient_balance",
      component: "amount",
      mint: null,
      required: 2n * SOL + FEE,
      available: 2n * SOL,
    });
  });

  test("InsufficientFundsForRent of the payer: what is left is too little to be left", async ({ scene }) => {
    const { rentOfEmpty } = scene;
    const sender = somebody(scene, { lamports: SOL });
    const payment = pays(sender, null, [scene.bob, SOL - FEE - 1n]);
    expect(
      await simulate(scene, payment, sender, [scene.paySol({ from: sender, amount: SOL - FEE - 1n })]),
    ).toEqual({
      kind: "insufficient_balance",
      component: "rent",
      mint: null,
      required: SOL - 1n + rentOfEmpty,
      available: SOL,
    });
  });

  test("W17: InsufficientFundsForRent of a recipient, first or second, is the recipient's minimum", async ({
    scene,
  }) => {
    const { rentOfEmpty } = scene;
    const sender = somebody(scene, { lamports: 5n * SOL });
    const fresh = somebody(scene);
    const orders = [
      [fresh, scene.bob],
      [scene.bob, fresh],
    ];
    for (const recipients of orders) {
      const payment = pays(sender, null, ...recipients.map((to) => [to, rentOfEmpty - 1n] as const));
      const instructions = recipients.map((to) =>
        scene.paySol({ from: sender, to, amount: rentOfEmpty - 1n }),
      );
      expect(await simulate(scene, payment, sender, instructions)).toEqual({
        kind: "recipient_below_rent",
        minimum: rentOfEmpty,
        transfer: recipients.indexOf(fresh),
      });
    }
  });
});

describe.each(["USDC", "USDT"] as const)("%s", (coin) => {
  const honest = (
    scene: Priced,
    sender: Wallet,
    recipient: Wallet,
    amount: bigint,
  ): TransactionInstruction[] => {
    const mint = scene.mints[coin];
    return [
      scene.createAta({ owner: recipient, payer: sender, mint }),
      scene.payToken({ mint, authority: sender, to: scene.ata(recipient, mint), amount }),
    ];
  };
  const simulateHonest = (
    scene: Priced,
    sender: Wallet,
    recipient: Wallet,
    amount: bigint,
  ): Promise<SimulationFault | null> =>
    simulate(
      scene,
      pays(sender, scene.mints[coin], [recipient, amount]),
      sender,
      honest(scene, sender, recipient, amount),
    );

  test("a payment that lacks nothing has no fault", async ({ scene }) => {
    expect(await simulateHonest(scene, holding(scene, coin, SOL, 5n), somebody(scene), 5n)).toBeNull();
  });

  test("W16: AccountNotFound: tokens, but no SOL at all, is component fee", async ({ scene }) => {
    const shortage = {
      kind: "insufficient_balance",
      component: "fee",
      mint: null,
      required: FEE,
      available: 0n,
    };
    expect(await simulateHonest(scene, holding(scene, coin, 0n, 5n), scene.alice, 5n)).toEqual(shortage);
  });

  test("W16: InsufficientFundsForFee: less SOL than the fee is component fee, with the priority fee in it", async ({
    scene,
  }) => {
    const sender = holding(scene, coin, 1_000_000n, 5n);
    const payment = pays(sender, scene.mints[coin], [scene.alice, 5n]);
    const instructions = [...priceOf(1_000_000n), ...honest(scene, sender, scene.alice, 5n)];
    expect(await simulate(scene, payment, sender, instructions)).toEqual({
      kind: "insufficient_balance",
      component: "fee",
      mint: null,
      required: FEE + 1_000_000n,
      available: 1_000_000n,
    });
  });

  test("W16: System's custom error 1 while an account is created: no SOL for its rent is component rent", async ({
    scene,
  }) => {
    const { rentOfEmpty, rentOfToken } = scene;
    const lamports = rentOfEmpty + FEE;
    expect(await simulateHonest(scene, holding(scene, coin, lamports, 5n), somebody(scene), 5n)).toEqual({
      kind: "insufficient_balance",
      component: "rent",
      mint: null,
      required: FEE + rentOfToken,
      available: lamports,
    });
  });

  test("W16: an account whose creation is asked for twice is paid for once", async ({ scene }) => {
    const { rentOfEmpty, rentOfToken } = scene;
    const lamports = rentOfEmpty + FEE;
    const sender = holding(scene, coin, lamports, 5n);
    const recipient = somebody(scene);
    const [create, transfer] = honest(scene, sender, recipient, 5n);
    if (create === undefined || transfer === undefined) throw new Error("a payment has two instructions");
    const payment = pays(sender, scene.mints[coin], [recipient, 5n]);
    expect(await simulate(scene, payment, sender, [create, create, transfer])).toMatchObject({
      component: "rent",
      required: FEE + rentOfToken,
    });
  });

  test("W16: InsufficientFundsForRent of the payer, by the fee or by an account's rent, is component rent", async ({
    scene,
  }) => {
    const { rentOfEmpty, rentOfToken } = scene;
    const byFee = holding(scene, coin, rentOfEmpty + FEE - 1n, 5n);
    const shortage = { kind: "insufficient_balance", component: "rent", mint: null };
    expect(await simulateHonest(scene, byFee, scene.alice, 5n)).toEqual({
      ...shortage,
      required: FEE + rentOfEmpty,
      available: rentOfEmpty + FEE - 1n,
    });
    const lamports = rentOfToken + FEE + rentOfEmpty - 1n;
    const byAccount = holding(scene, coin, lamports, 5n);
    expect(await simulateHonest(scene, byAccount, somebody(scene), 5n)).toEqual({
      ...shortage,
      required: FEE + rentOfToken + rentOfEmpty,
      available: lamports,
    });
  });

  test("Token's custom error 1: too few tokens is component amount of the mint", async ({ scene }) => {
    const shortage = { kind: "insufficient_balance", component: "amount", mint: scene.mints[coin] };
    expect(await simulateHonest(scene, holding(scene, coin, SOL, 4n), scene.alice, 5n)).toEqual({
      ...shortage,
      required: 5n,
      available: 4n,
    });
    expect(await simulateHonest(scene, somebody(scene, { lamports: SOL }), scene.alice, 5n)).toEqual({
      ...shortage,
      required: 5n,
      available: 0n,
    });
  });

  test("Token's custom error 1: the second of two transfers finds too few, and the sum of both is asked for", async ({
    scene,
  }) => {
    const sender = holding(scene, coin, SOL, 9n);
    const payment = pays(sender, scene.mints[coin], [scene.alice, 5n], [scene.mallory, 5n]);
    const instructions = [scene.alice, scene.mallory].flatMap((to) => honest(scene, sender, to, 5n));
    expect(await simulate(scene, payment, sender, instructions)).toEqual({
      kind: "insufficient_balance",
      component: "amount",
      mint: scene.mints[coin],
      required: 10n,
      available: 9n,
    });
  });

  test("W15: a recipient without a token account, and nothing that creates one, is no_token_account", async ({
    scene,
  }) => {
    const sender = holding(scene, coin, SOL, 5n);
    const [recipient, other] = [somebody(scene), somebody(scene)];
    const transferAlone = honest(scene, sender, recipient, 5n).slice(1);
    const noAccount = { kind: "would_fail", reason: "no_token_account" };
    expect(
      await simulate(scene, pays(sender, scene.mints[coin], [recipient, 5n]), sender, transferAlone),
    ).toMatchObject(noAccount);
    // The account that is created is another recipient's.
    const both = pays(sender, scene.mints[coin], [other, 1n], [recipient, 4n]);
    const created = [...honest(scene, sender, other, 1n), ...honest(scene, sender, recipient, 4n).slice(1)];
    expect(await simulate(scene, both, sender, created)).toMatchObject(noAccount);
  });

  test("W15: neither end exists: the sender learns first that there is nothing to pay with", async ({
    scene,
  }) => {
    const sender = somebody(scene, { lamports: SOL });
    const recipient = somebody(scene);
    const payment = pays(sender, scene.mints[coin], [recipient, 5n]);
    expect(
      await simulate(scene, payment, sender, honest(scene, sender, recipient, 5n).slice(1)),
    ).toMatchObject({
      kind: "insufficient_balance",
      component: "amount",
      available: 0n,
    });
  });

  test("an account that is created too late, behind its transfer, is program_error", async ({ scene }) => {
    const sender = holding(scene, coin, SOL, 5n);
    const recipient = somebody(scene);
    const payment = pays(sender, scene.mints[coin], [recipient, 5n]);
    const instructions = honest(scene, sender, recipient, 5n).toReversed();
    expect(await simulate(scene, payment, sender, instructions)).toMatchObject(PROGRAM_ERROR);
  });

  test("P17: Token's custom error 0x11: a frozen account at either end is frozen", async ({ scene }) => {
    const sender = holding(scene, coin, SOL, 5n);
    const recipient = holding(scene, coin, SOL, 1n);
    const mint = new PublicKey(scene.mints[coin]);
    const { faucet } = scene.chain;
    for (const owner of [sender, recipient]) {
      const account = scene.ata(owner, scene.mints[coin]);
      const key = new PublicKey(faucet.address);
      await land(scene, {
        signers: [faucet],
        instructions: [createFreezeAccountInstruction(account, mint, key)],
      });
      expect(await simulateHonest(scene, sender, recipient, 5n)).toMatchObject({
        kind: "would_fail",
        reason: "frozen",
      });
      await land(scene, {
        signers: [faucet],
        instructions: [createThawAccountInstruction(account, mint, key)],
      });
    }
    expect(await simulateHonest(scene, sender, recipient, 5n)).toBeNull();
  });
});

describe("whose error it is", () => {
  test("two of the sender's accounts pay: only the one that runs short is told of", async ({ scene }) => {
    const sender = holding(scene, "USDC", 5n * SOL, 100n);
    const second = somebody(scene);
    await land(scene, {
      signers: [sender, second],
      instructions: [
        SystemProgram.createAccount({
          fromPubkey: keyOf(sender),
          newAccountPubkey: keyOf(second),
          lamports: 10_000_000,
          space: 165,
          programId: TOKEN_PROGRAM_ID,
        }),
        createInitializeAccount3Instruction(keyOf(second), new PublicKey(scene.mints.USDC), keyOf(sender)),
        scene.payToken({ authority: sender, to: keyOf(second), amount: 3n }),
      ],
    });
    const payment = pays(sender, scene.mints.USDC, [scene.alice, 10n], [scene.mallory, 5n]);
    const instructions = [
      scene.payToken({ authority: sender, to: scene.ata(scene.alice), amount: 10n }),
      scene.payToken({ authority: sender, source: keyOf(second), to: scene.ata(scene.mallory), amount: 5n }),
    ];
    expect(await simulate(scene, payment, sender, instructions)).toEqual({
      kind: "insufficient_balance",
      component: "amount",
      mint: scene.mints.USDC,
      required: 5n,
      available: 3n,
    });
  });

  test.for([
    ["a memo's", { Custom: 1 }],
    ["a memo's", { Custom: 0x11 }],
    ["a memo's", "MissingRequiredSignature"],
  ] as const)(
    "custom errors of another program say nothing of the sender's money: %s %j is program_error",
    async ([_whose, error], { scene }) => {
      const { alice, bob, paySol, payToken, mallory } = scene;
      const memo = instruction(MEMO, Buffer.from("x"));
      const sol = pays(alice, null, [bob, 5n]);
      expect(
        await explained(scene, sol, alice, [memo, paySol({ amount: 5n })], { InstructionError: [0, error] }),
      ).toMatchObject(PROGRAM_ERROR);
      const usdc = pays(alice, scene.mints.USDC, [mallory, 5n]);
      const toMallory = payToken({ to: scene.ata(mallory), amount: 5n });
      expect(
        await explained(scene, usdc, alice, [toMallory, memo], { InstructionError: [1, error] }),
      ).toMatchObject(PROGRAM_ERROR);
    },
  );

  test("Token's codes mean nothing in the System and ATA programs", async ({ scene }) => {
    const { alice, bob, paySol, honest, usdc } = scene;
    const sol = pays(alice, null, [bob, 5n]);
    const frozen = { InstructionError: [0, { Custom: 0x11 }] };
    expect(await explained(scene, sol, alice, [paySol({ amount: 5n })], frozen)).toMatchObject(PROGRAM_ERROR);
    expect(await explained(scene, usdc, alice, honest(usdc), frozen)).toMatchObject(PROGRAM_ERROR);
    const other = { InstructionError: [0, { Custom: 0 }] };
    expect(await explained(scene, sol, alice, [paySol({ amount: 5n })], other)).toMatchObject(PROGRAM_ERROR);
    expect(await explained(scene, usdc, alice, honest(usdc), other)).toMatchObject(PROGRAM_ERROR);
  });

  test("an error of the Token program that is none of these, both accounts being there, is program_error", async ({
    scene,
  }) => {
    const { alice, mallory, payToken, mints } = scene;
    const payment = pays(alice, mints.USDC, [mallory, 5n]);
    const transfer = payToken({ to: scene.ata(mallory), amount: 5n });
    for (const error of [{ Custom: 3 }, "InvalidAccountData", "ComputationalBudgetExceeded"]) {
      expect(
        await explained(scene, payment, alice, [transfer], { InstructionError: [0, error] }),
      ).toMatchObject(PROGRAM_ERROR);
    }
  });

  test("too little rent of an account that is neither payer nor SOL recipient is program_error", async ({
    scene,
  }) => {
    const { alice, honest, usdc } = scene;
    const err = { InsufficientFundsForRent: { account_index: 2 } };
    expect(await explained(scene, usdc, alice, honest(usdc), err)).toMatchObject(PROGRAM_ERROR);
  });

  test.for([
    ["SignatureFailure"],
    ["DuplicateInstruction"],
    ["SomethingNew"],
    [{ InstructionError: null }],
    [{ InstructionError: [] }],
    [{ InstructionError: [99, { Custom: 1 }] }],
    [{ InstructionError: ["0", { Custom: 1 }] }],
    [{ InsufficientFundsForRent: {} }],
    [{ InsufficientFundsForRent: null }],
    [{}],
  ] as const)("an error that nobody foresaw, %j, is program_error", async ([err], { scene }) => {
    const { alice, honest, usdc, sol } = scene;
    for (const payment of [sol, usdc]) {
      expect(await explained(scene, payment, alice, honest(payment), err)).toMatchObject(PROGRAM_ERROR);
    }
  });

  test("W21: bytes already processed are told as such", async ({ scene }) => {
    const { alice, honest, sol, usdc } = scene;
    for (const payment of [sol, usdc]) {
      expect(await explained(scene, payment, alice, honest(payment), "AlreadyProcessed")).toEqual({
        kind: "already_processed",
      });
    }
  });
});
