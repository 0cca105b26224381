/** M1, M4: what the real programs do with a marker: making, following, reading and closing it, and what strangers try. */
import {
  AccountLayout,
  createApproveInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createTransferInstruction,
  AuthorityType,
  NATIVE_MINT,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { describe, expect, onTestFinished, test as vitestTest } from "vitest";
import { connect, keyOf, SOL, somebody } from "../local/kit.ts";
import type { Message, Step } from "./chain.ts";
import { type DepositOnChain, depositsOnChain, TOKEN_ACCOUNT_SIZE, UNIT } from "./on-chain.ts";

/** Instructions before the protocol's own: the two of ComputeBudget. */
const BEFORE = 2;
/** Lamports per byte on the local chain. */
const RENT_PER_BYTE = 6_960n;
const ALREADY_IN_USE = { Custom: 0 };
const OWNER_MISMATCH = { Custom: 4 };

const MAKE: Step = { does: "make", marker: "words" };
const PAY: Step = { does: "pay", payee: 0, amount: 1 };
const PAYMENT: Message = { name: "payment", steps: [MAKE, PAY] };
const REPLACEMENT: Message = {
  name: "replacement",
  steps: [MAKE, { does: "approve", marker: "words", delegate: "plan" }, { does: "make", marker: "plan" }],
};
const PAYMENT_OF_THE_PLAN: Message = {
  name: "payment of the plan",
  steps: [{ does: "revoke", marker: "plan" }, { does: "make", marker: "leaf" }, PAY],
};

const makeDeposit = depositsOnChain();

/** A deposit on the chain, and two of its markers. */
interface Scene {
  readonly onChain: DepositOnChain;
  readonly marker: PublicKey;
  readonly plan: PublicKey;
}

const test = vitestTest.extend("scene", async ({}): Promise<Scene> => {
  const onChain = makeDeposit();
  onChain.fund(10);
  return { onChain, marker: await onChain.address("words"), plan: await onChain.address("plan") };
});

function failsAt(index: number, error: unknown): unknown {
  return { InstructionError: [BEFORE + index, error] };
}

async function holds(scene: Scene, address: PublicKey): Promise<number> {
  const { onChain } = scene;
  return onChain.connection.getBalance(address);
}

describe("making a marker", () => {
  test("a payment lands once, and again only as a refusal at its first instruction", async ({ scene }) => {
    const { onChain } = scene;
    expect(await onChain.land(PAYMENT)).toBeNull();
    expect(await onChain.land(PAYMENT)).toEqual(failsAt(0, ALREADY_IN_USE));
    onChain.expire();
    expect(await onChain.land(PAYMENT)).toEqual(failsAt(0, ALREADY_IN_USE));
    expect(await onChain.units(onChain.payees[0] ?? somebody())).toBe(1);
  });

  test.for([1_000_000n, 2_000_000n, 5n * SOL])(
    "M4: %d lamports that were there before change nothing",
    async (lamports, { scene }) => {
      const { onChain, marker } = scene;
      onChain.chain.fund(marker.toBase58(), { lamports });
      expect(await onChain.land(PAYMENT)).toBeNull();
      expect(await holds(scene, marker)).toBe(onChain.rent + Number(lamports));
      expect(await onChain.land(PAYMENT)).toEqual(failsAt(0, ALREADY_IN_USE));
    },
  );

  test("M1: lamports sent later change nothing, and closing returns all of them", async ({ scene }) => {
    const { onChain, marker } = scene;
    expect(await onChain.land(PAYMENT)).toBeNull();
    onChain.chain.fund(marker.toBase58(), { lamports: 7n });
    expect(await onChain.send([createSyncNativeInstruction(marker)])).toBeNull();
    onChain.chain.fund(marker.toBase58(), { lamports: 11n });
    expect(await onChain.land(PAYMENT)).toEqual(failsAt(0, ALREADY_IN_USE));
    const to = somebody();
    expect(
      await onChain.send([createCloseAccountInstruction(marker, to, onChain.deposit.publicKey)]),
    ).toBeNull();
    expect(await holds(scene, to)).toBe(onChain.rent + 7 + 11);
    expect(await onChain.connection.getAccountInfo(marker)).toBeNull();
  });

  test("rent that rises after a marker was made binds more for the next, and hinders nothing", async ({
    scene,
  }) => {
    const { onChain } = scene;
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    onChain.chain.setRent(10_000n);
    onTestFinished(() => onChain.chain.setRent(RENT_PER_BYTE));
    expect(await onChain.land(PAYMENT)).toEqual(failsAt(0, ALREADY_IN_USE));
    expect(await onChain.land({ name: "follow", steps: [{ does: "revoke", marker: "plan" }] })).toBeNull();
    expect(await onChain.land({ name: "close", steps: [{ does: "close", marker: "words" }] })).toBeNull();
  });

  test("rent that rises before a payment lands fails the third instruction, with the code that means made at the first", async ({
    scene,
  }) => {
    const { onChain, marker } = scene;
    onChain.chain.setRent(10_000n);
    onTestFinished(() => onChain.chain.setRent(RENT_PER_BYTE));
    // NotRentExempt of the Token program. AlreadyInUse of the System program has the same number.
    expect(await onChain.land(PAYMENT)).toEqual(failsAt(2, { Custom: 0 }));
    expect(await onChain.connection.getAccountInfo(marker)).toBeNull();
  });

  test("a marker that was closed can be made again", async ({ scene }) => {
    const { onChain } = scene;
    expect(await onChain.land(PAYMENT)).toBeNull();
    expect(await onChain.land({ name: "close", steps: [{ does: "close", marker: "words" }] })).toBeNull();
    expect(await onChain.land(PAYMENT)).toBeNull();
  });
});

describe("following a plan", () => {
  test("the leaf of a plan that was not made is refused at its first instruction", async ({ scene }) => {
    const { onChain, plan } = scene;
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toEqual(failsAt(0, "InvalidAccountData"));
    onChain.chain.fund(plan.toBase58(), { lamports: 5n * SOL });
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toEqual(failsAt(0, "InvalidAccountData"));
  });

  test("the leaf lands behind the plan, and again only as a refusal", async ({ scene }) => {
    const { onChain } = scene;
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toBeNull();
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toEqual(failsAt(1, ALREADY_IN_USE));
  });

  test("a fork that takes the plan back takes the leaf back, and the leaf alone does not return", async ({
    scene,
  }) => {
    const { onChain } = scene;
    onChain.finalize();
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toBeNull();
    await onChain.fork();
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toEqual(failsAt(0, "InvalidAccountData"));
    expect(await onChain.land(PAYMENT)).toBeNull();
    expect(await onChain.land(REPLACEMENT)).toEqual(failsAt(0, ALREADY_IN_USE));
  });

  test("a replacement of words that are replaced already makes no second plan", async ({ scene }) => {
    const { onChain } = scene;
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    const steps: readonly Step[] = [
      MAKE,
      { does: "approve", marker: "words", delegate: "other plan" },
      { does: "make", marker: "other plan" },
    ];
    expect(await onChain.land({ name: "rival", steps })).toEqual(failsAt(0, ALREADY_IN_USE));
    const follow: Step = { does: "revoke", marker: "other plan" };
    expect(await onChain.land({ name: "rival leaf", steps: [follow, PAY] })).toEqual(
      failsAt(0, "InvalidAccountData"),
    );
  });

  test("a transfer that fails undoes the marker and every other transfer, and the error names its instruction", async ({
    scene,
  }) => {
    const { onChain, marker } = scene;
    const steps: readonly Step[] = [MAKE, PAY, { does: "pay", payee: 1, amount: 100 }];
    // Behind the three instructions of the marker and one transfer.
    expect(await onChain.land({ name: "payment", steps })).toEqual(failsAt(4, { Custom: 1 }));
    expect(await onChain.connection.getAccountInfo(marker)).toBeNull();
    expect(await onChain.land(PAYMENT)).toBeNull();
  });
});

describe("reading a marker", () => {
  async function read(scene: Scene): Promise<string> {
    const { onChain, marker, plan } = scene;
    onChain.finalize();
    const { value } = await connect(onChain.chain, "finalized").getAccountInfoAndContext(marker);
    if (value === null || value.data.length === 0) return "not made";
    expect(value.owner).toEqual(TOKEN_PROGRAM_ID);
    const { delegateOption, delegate, mint, owner } = AccountLayout.decode(value.data);
    expect([mint, owner]).toEqual([NATIVE_MINT, onChain.deposit.publicKey]);
    if (delegateOption === 0) return "paid";
    return delegate.equals(plan) ? "replaced by the plan" : "unknown";
  }

  test("M1: it says not made, also where somebody has sent lamports", async ({ scene }) => {
    const { onChain, marker } = scene;
    expect(await read(scene)).toBe("not made");
    onChain.chain.fund(marker.toBase58(), { lamports: SOL });
    expect(await read(scene)).toBe("not made");
  });

  test("M1: it says paid, also where somebody has sent lamports", async ({ scene }) => {
    const { onChain, marker } = scene;
    expect(await onChain.land(PAYMENT)).toBeNull();
    onChain.chain.fund(marker.toBase58(), { lamports: SOL });
    expect(await onChain.send([createSyncNativeInstruction(marker)])).toBeNull();
    expect(await read(scene)).toBe("paid");
  });

  test("it says by which plan the words were replaced, also after leaves have followed it", async ({
    scene,
  }) => {
    const { onChain } = scene;
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toBeNull();
    expect(await read(scene)).toBe("replaced by the plan");
  });
});

describe("strangers", () => {
  let stranger: Keypair;
  test.beforeEach(({ scene: { onChain } }) => {
    stranger = keyOf(onChain.chain.createWallet("stranger", { lamports: 10n * SOL }));
  });
  const attempt = async (scene: Scene, ...instructions: TransactionInstruction[]): Promise<unknown> =>
    scene.onChain.send(instructions, [stranger]);

  test("cannot make a marker: its address follows from the deposit key, which has to sign", async ({
    scene,
  }) => {
    const { onChain, marker } = scene;
    const seed = onChain.seed("words");
    const space = TOKEN_ACCOUNT_SIZE;
    const own = { accountPubkey: marker, basePubkey: stranger.publicKey, seed, space };
    expect(await attempt(scene, SystemProgram.allocate({ ...own, programId: TOKEN_PROGRAM_ID }))).toEqual(
      // AddressWithSeedMismatch
      failsAt(0, { Custom: 5 }),
    );
    const { publicKey: basePubkey } = onChain.deposit;
    const unsigned = SystemProgram.allocate({ ...own, basePubkey, programId: TOKEN_PROGRAM_ID });
    for (const key of unsigned.keys) key.isSigner = false;
    expect(await attempt(scene, unsigned)).toEqual(failsAt(0, "MissingRequiredSignature"));
    const whole = SystemProgram.createAccount({
      fromPubkey: stranger.publicKey,
      newAccountPubkey: marker,
      lamports: onChain.rent,
      space,
      programId: TOKEN_PROGRAM_ID,
    });
    for (const key of whole.keys) key.isSigner = key.pubkey.equals(stranger.publicKey);
    expect(await attempt(scene, whole)).toEqual(failsAt(0, "MissingRequiredSignature"));
  });

  test("cannot turn lamports at a marker's address into a marker", async ({ scene }) => {
    const { onChain, marker } = scene;
    onChain.chain.fund(marker.toBase58(), { lamports: SOL });
    const { publicKey } = onChain.deposit;
    const initialize = createInitializeAccount3Instruction(marker, NATIVE_MINT, publicKey);
    expect(await attempt(scene, initialize)).toEqual(failsAt(0, "InvalidAccountData"));
    expect(await onChain.land(PAYMENT)).toBeNull();
  });

  test("cannot pass another of the deposit address's token accounts off as a plan", async ({ scene }) => {
    const { onChain } = scene;
    const account = Keypair.generate();
    const made = await onChain.send(
      [
        SystemProgram.createAccount({
          fromPubkey: stranger.publicKey,
          newAccountPubkey: account.publicKey,
          lamports: onChain.rent,
          space: TOKEN_ACCOUNT_SIZE,
          programId: TOKEN_PROGRAM_ID,
        }),
        createInitializeAccount3Instruction(account.publicKey, NATIVE_MINT, onChain.deposit.publicKey),
      ],
      [stranger, account],
    );
    expect(made).toBeNull();
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toEqual(failsAt(0, "InvalidAccountData"));
  });

  test("cannot close, revoke, approve, hand over, freeze or empty a marker", async ({ scene }) => {
    const { onChain, marker, plan } = scene;
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    const { publicKey } = stranger;
    const before = await onChain.connection.getAccountInfo(marker);
    expect(await attempt(scene, createCloseAccountInstruction(marker, publicKey, publicKey))).toEqual(
      failsAt(0, OWNER_MISMATCH),
    );
    expect(await attempt(scene, createRevokeInstruction(marker, publicKey))).toEqual(
      failsAt(0, OWNER_MISMATCH),
    );
    expect(await attempt(scene, createRevokeInstruction(plan, publicKey))).toEqual(
      failsAt(0, OWNER_MISMATCH),
    );
    expect(await attempt(scene, createApproveInstruction(marker, publicKey, publicKey, 1n))).toEqual(
      failsAt(0, OWNER_MISMATCH),
    );
    for (const authority of [AuthorityType.AccountOwner, AuthorityType.CloseAccount]) {
      expect(
        await attempt(scene, createSetAuthorityInstruction(marker, publicKey, authority, publicKey)),
      ).toEqual(failsAt(0, OWNER_MISMATCH));
    }
    const after = await onChain.connection.getAccountInfo(marker);
    expect(after?.data).toEqual(before?.data);
  });

  test("cannot use the delegate: no key belongs to the address of a plan", async ({ scene }) => {
    const { onChain, marker, plan } = scene;
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    // One lamport of wrapped SOL is what the delegate may move.
    onChain.chain.fund(marker.toBase58(), { lamports: 5n });
    expect(await attempt(scene, createSyncNativeInstruction(marker))).toBeNull();
    const asStranger = createTransferInstruction(marker, plan, stranger.publicKey, 1n);
    expect(await attempt(scene, asStranger)).toEqual(failsAt(0, OWNER_MISMATCH));
    const unsigned = createTransferInstruction(marker, plan, plan, 1n);
    for (const key of unsigned.keys) key.isSigner = false;
    expect(await attempt(scene, unsigned)).toEqual(failsAt(0, "MissingRequiredSignature"));
  });

  test("cannot block an order by sending lamports: every message of it lands", async ({ scene }) => {
    const { marker, plan, onChain } = scene;
    for (const address of [marker, plan, await onChain.address("leaf"), onChain.deposit.publicKey]) {
      onChain.chain.fund(address.toBase58(), { lamports: UNIT });
    }
    expect(await onChain.land(REPLACEMENT)).toBeNull();
    expect(await onChain.land(PAYMENT_OF_THE_PLAN)).toBeNull();
    const close = ["plan", "leaf", "words"].map((name) => ({ does: "close", marker: name }) as const);
    expect(await onChain.land({ name: "sweep", steps: close })).toBeNull();
  });
});
