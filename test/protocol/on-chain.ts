/** Carries out the model's messages on the local chain, with instructions built here and nothing of the service's own. */
import { createHash } from "node:crypto";
import {
  createApproveInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createRevokeInstruction,
  NATIVE_MINT,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import {
  ComputeBudgetProgram,
  type Connection,
  Keypair,
  PublicKey,
  type Signer,
  SystemProgram,
  type TransactionError,
  type TransactionInstruction,
} from "@solana/web3.js";
import { afterAll, beforeAll } from "vitest";
import { createLocalChain, type LocalChain } from "paystate/local";
import { connect, keyOf, NEW_YEAR, signed, SOL, somebody } from "../local/kit.ts";
import type { Message, Step } from "./chain.ts";

/** Lamports that one unit of the model stands for. */
export const UNIT = 10_000_000n;

/** Bytes of a token account. */
export const TOKEN_ACCOUNT_SIZE = 165;

/** Slots after which a block is finalized, with one to spare. */
const SLOTS_TO_FINALITY = 33;

/** Slots after which no bytes of before can land. */
const SLOTS_TO_EXPIRY = 152;

/** Makes a chain for the tests of one file, closed after the last of them, and deposit addresses on it. */
export function depositsOnChain(): () => DepositOnChain {
  let chain: LocalChain | undefined;
  let rent = 0;
  beforeAll(async () => {
    chain = await createLocalChain({ clock: { now: () => NEW_YEAR }, slotMs: 0 });
    rent = await connect(chain).getMinimumBalanceForRentExemption(TOKEN_ACCOUNT_SIZE);
  });
  afterAll(() => chain?.close());
  return () => {
    if (chain === undefined) throw new Error("The chain is made before the first test.");
    return new DepositOnChain(chain, rent);
  };
}

/** One deposit address, on a chain whose slots pass only here. */
export class DepositOnChain {
  readonly chain: LocalChain;
  readonly connection: Connection;
  readonly sponsor: Keypair;
  readonly deposit = Keypair.generate();
  readonly sender = somebody();
  readonly treasury = somebody();
  readonly payees: readonly PublicKey[];
  readonly rent: number;

  /** A deposit address that holds nothing yet, and a sponsor who pays its fees. */
  constructor(chain: LocalChain, rent: number) {
    this.chain = chain;
    this.rent = rent;
    this.connection = connect(chain, "processed");
    this.sponsor = keyOf(chain.createWallet("sponsor", { lamports: 1_000n * SOL }));
    this.payees = Array.from({ length: 6 }, somebody);
    this.finalize();
  }

  /** The seed of a marker: 32 characters that depend on everything the marker stands for. */
  seed(marker: string): string {
    return createHash("sha256").update(marker).digest("base64").slice(0, 32);
  }

  /** The address of a marker. */
  async address(marker: string): Promise<PublicKey> {
    return PublicKey.createWithSeed(this.deposit.publicKey, this.seed(marker), TOKEN_PROGRAM_ID);
  }

  /** The instructions of one step. */
  async instructions(step: Step): Promise<TransactionInstruction[]> {
    const owner = this.deposit.publicKey;
    switch (step.does) {
      case "make":
        return this.make(step.marker);
      case "approve": {
        const [marker, delegate] = await Promise.all([
          this.address(step.marker),
          this.address(step.delegate),
        ]);
        return [createApproveInstruction(marker, delegate, owner, 1n)];
      }
      case "revoke":
        return [createRevokeInstruction(await this.address(step.marker), owner)];
      case "close":
        return [
          createCloseAccountInstruction(await this.address(step.marker), this.sponsor.publicKey, owner),
        ];
      default:
        return [this.move(this.recipient(step), BigInt(step.amount) * UNIT)];
    }
  }

  /** The three instructions that make a marker: the first one fails when it is made already. */
  async make(marker: string): Promise<TransactionInstruction[]> {
    const accountPubkey = await this.address(marker);
    const basePubkey = this.deposit.publicKey;
    return [
      SystemProgram.allocate({
        accountPubkey,
        basePubkey,
        seed: this.seed(marker),
        space: TOKEN_ACCOUNT_SIZE,
        programId: TOKEN_PROGRAM_ID,
      }),
      SystemProgram.transfer({
        fromPubkey: this.sponsor.publicKey,
        toPubkey: accountPubkey,
        lamports: this.rent,
      }),
      createInitializeAccount3Instruction(accountPubkey, NATIVE_MINT, basePubkey),
    ];
  }

  /** A transfer of lamports out of the deposit address. */
  move(toPubkey: PublicKey, lamports: bigint): TransactionInstruction {
    return SystemProgram.transfer({ fromPubkey: this.deposit.publicKey, toPubkey, lamports });
  }

  /** Lets a message of the model land, with a blockhash of its own. Null when it has landed. */
  async land(message: Message): Promise<TransactionError | null> {
    const instructions = await Promise.all(message.steps.map((step) => this.instructions(step)));
    return this.send(instructions.flat());
  }

  /** Sends two ComputeBudget instructions and these, paid by the first signer, and tells how they ended. */
  async send(
    instructions: readonly TransactionInstruction[],
    signers: readonly [Signer, ...Signer[]] = [this.sponsor, this.deposit],
  ): Promise<TransactionError | null> {
    this.chain.advance(1);
    const { blockhash } = await this.connection.getLatestBlockhash();
    const whole = [...computeBudget(), ...instructions];
    const needed = signers.filter(
      ({ publicKey }, index) => index === 0 || whole.some((instruction) => isSigner(instruction, publicKey)),
    ) as [Signer, ...Signer[]];
    const transaction = signed(blockhash, whole, needed);
    const signature = await this.connection.sendTransaction(transaction, { skipPreflight: true });
    const { value } = await this.connection.getSignatureStatus(signature);
    if (value === null) throw new Error(`The transaction ${signature} did not reach a block.`);
    return value.err;
  }

  /** Deposits so many units. */
  fund(units: number): void {
    this.chain.fund(this.deposit.publicKey.toBase58(), { lamports: BigInt(units) * UNIT });
  }

  finalize(): void {
    this.chain.advance(SLOTS_TO_FINALITY);
  }

  /** Loses all blocks that are not finalized. */
  async fork(): Promise<void> {
    this.chain.rollback(await this.connection.getSlot("finalized"));
  }

  /** Lets so much time pass that nothing signed so far can land. */
  expire(): void {
    this.chain.advance(SLOTS_TO_EXPIRY);
  }

  /** What an address holds, in units. */
  async units(address: PublicKey): Promise<number> {
    return (await this.connection.getBalance(address)) / Number(UNIT);
  }

  private recipient(step: Extract<Step, { readonly amount: number }>): PublicKey {
    if (step.does === "take fee") return this.treasury;
    if (step.does !== "pay") return this.sender;
    const payee = this.payees[step.payee];
    if (payee === undefined) throw new RangeError(`There is no payee ${String(step.payee)}.`);
    return payee;
  }
}

/** What every payment of ours begins with. */
export function computeBudget(): TransactionInstruction[] {
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 400_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000n }),
  ];
}

function isSigner({ keys }: TransactionInstruction, wanted: PublicKey): boolean {
  return keys.some(({ isSigner: signs, pubkey }) => signs && pubkey.equals(wanted));
}
