/** A request for every reason that an error's details can have, by code and reason. */
import { createTransferCheckedInstruction } from "@solana/spl-token";
import { AddressLookupTableAccount, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import type { ErrorDetails } from "../../src/errors/errors.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { keyOf, signed, type Signing } from "../solana/signed-transaction.ts";
import { signedVersion1 } from "../kit/version-1.ts";
import type { JudgedAnswer } from "./answer-judge.ts";
import {
  cancelOf,
  draftOf,
  fields,
  hourBehind,
  over,
  plain,
  quoted,
  SAME_ASSET,
  send,
  signedBy,
  type Asking,
  type ByReason,
  type ErrorCase,
} from "./asking.ts";
import { PRIVATE_REASONS } from "./private-cases.ts";
import { PRIVATE_SWAP_REASONS } from "./private-swap-cases.ts";
import { SWAP_REASONS } from "./swap-cases.ts";

type ReasonOf<Code extends keyof ErrorDetails> = ErrorDetails[Code] extends { readonly reason: infer Reason }
  ? Reason & string
  : never;
/** The reasons of a code that modules of the service do not bring themselves. */
type OwnReasonOf<Code extends keyof ErrorDetails, Brought extends ReasonOf<Code>> = Exclude<
  ReasonOf<Code>,
  Brought
>;

const LAMPORTS_OF_A_SOL = 1_000_000_000n;
/** More blocks than signed bytes live. */
const LIFE_OF_BYTES = 200;

/** The send of the example, with other bytes. */
const withBytes = (asking: Asking, signedTransaction: string): Promise<JudgedAnswer> =>
  send(asking, fields(asking, { signedTransaction }));

/** The bytes of the example, one of them changed. */
function bent(asking: Asking, at: number, bits: number): string {
  const { signedTransaction } = draftOf(asking).json as { readonly signedTransaction: string };
  const bytes = Buffer.from(signedTransaction, "base64");
  bytes[at] = (bytes[at] ?? 0) ^ bits;
  return bytes.toString("base64");
}

/** The example, signed by its sender over these instructions. */
async function withInstructions(
  asking: Asking,
  instructions: readonly TransactionInstruction[],
  more: Partial<Signing> = {},
): Promise<JudgedAnswer> {
  const { payments, sender } = asking.world;
  return withBytes(asking, await signed(payments, { signers: [sender], instructions, ...more }));
}

/** One lamport for the recipient of the example. */
function lamport({ world: { sender, recipient } }: Asking): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: keyOf(sender), toPubkey: keyOf(recipient), lamports: 1 });
}

const INVALID_SIGNATURE: ByReason<ReasonOf<"INVALID_SIGNATURE">> = {
  not_base64: (asking) => withBytes(asking, "not base64!"),
  too_large: (asking) => withBytes(asking, Buffer.alloc(1_233, 1).toString("base64")),
  undecodable: (asking) => withBytes(asking, "AAAA"),
  unsupported_version: (asking) => withBytes(asking, bent(asking, 65, 0x80)),
  missing_signature: async (asking) => {
    const { world } = asking;
    const wish = { ...SAME_ASSET, amount: "25", sender: world.sender.address };
    const recipients = [{ address: world.recipient.address, amount: "25" }];
    const { transaction = "" } = await quoted(asking, { ...wish, recipients });
    return withBytes(asking, transaction);
  },
  missing_limits: async (asking) => {
    const { payments, sender } = asking.world;
    const signing = { signers: [sender], instructions: [lamport(asking)], settings: {} };
    return withBytes(asking, await signedVersion1(payments, signing));
  },
  bad_signature: (asking) => withBytes(asking, bent(asking, 1, 1)),
  sender_not_signer: async (asking) => {
    const { payments, recipient } = asking.world;
    return withBytes(asking, await signed(payments, { signers: [recipient], instructions: [] }));
  },
  content_mismatch: (asking) => withInstructions(asking, [lamport(asking)]),
  instruction_not_allowed: (asking) => {
    const programId = keyOf(asking.world.recipient);
    return withInstructions(asking, [
      new TransactionInstruction({ programId, keys: [], data: Buffer.alloc(1) }),
    ]);
  },
  durable_nonce: (asking) => {
    const { sender, recipient } = asking.world;
    const nonce = { noncePubkey: keyOf(recipient), authorizedPubkey: keyOf(sender) };
    return withInstructions(asking, [SystemProgram.nonceAdvance(nonce)]);
  },
  blockhash_expired: async (asking) => {
    const draft = draftOf(asking);
    asking.world.payments.chain.advance(LIFE_OF_BYTES);
    return send(asking, draft);
  },
  unknown_lookup_table: (asking) => {
    const [nowhere] = PublicKey.findProgramAddressSync([Buffer.from("nowhere")], keyOf(asking.world.sender));
    const state = {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [keyOf(asking.world.recipient)],
    };
    const tables = [new AddressLookupTableAccount({ key: nowhere, state })];
    return withInstructions(asking, [lamport(asking)], { tables });
  },
};

/** Only the chain says so. */
type Looked = "token_account" | "program" | "mint" | "off_curve";

/** A transaction of wallet mode that pays these, one USDC each. */
async function payingTo(asking: Asking, ...addresses: readonly string[]): Promise<JudgedAnswer> {
  const recipients = addresses.map((address) => ({ address, amount: "1" }));
  const type = recipients.length === 1 ? "send" : "payroll";
  const { quoteId } = await quoted(asking, { ...SAME_ASSET, amount: String(recipients.length) });
  return send(asking, fields(asking, { type, quoteId, recipients }));
}

const INVALID_RECIPIENT: ByReason<OwnReasonOf<"INVALID_RECIPIENT", Looked | "not_served" | "own_address">> = {
  not_base58: (asking) => payingTo(asking, "0OIl"),
  wrong_length: (asking) => payingTo(asking, "abc"),
  duplicate: (asking) => {
    const { address } = asking.world.recipient;
    return payingTo(asking, address, address);
  },
  // It pays somebody else.
  not_sender: (asking) => send(asking, fields(asking, { type: "swap" })),
};

// modules: webhooks
const at = (asking: Asking, url: string): Promise<JudgedAnswer> => send(asking, fields(asking, { url }));

// modules: webhooks
const INVALID_URL: ByReason<ReasonOf<"INVALID_URL">> = {
  unparseable: (asking) => at(asking, "https://["),
  not_https: (asking) => at(asking, "http://shop.example/"),
  credentials: (asking) => at(asking, "https://me:secret@shop.example/"),
  private_address: (asking) => at(asking, "https://169.254.169.254/"),
  too_long: (asking) => at(asking, `https://shop.example/${"x".repeat(2_048)}`),
  bad_host: (asking) => at(asking, "https://-shop-.example/"),
  bad_port: (asking) => at(asking, "https://shop.example:22/"),
};

const INVALID_QUOTE: ByReason<OwnReasonOf<"INVALID_QUOTE", "price_moved" | "asset_mismatch">> = {
  not_found: (asking) => send(asking, fields(asking, { quoteId: "quote_0" })),
  expired: async (asking) => {
    const draft = draftOf(asking);
    asking.world.payments.clock.advance(31_000);
    return send(asking, draft);
  },
  used: async (asking) => {
    const first = draftOf(asking);
    await send(asking, first);
    const { body } = await signedBy(asking, asking.world.sender);
    const { signedTransaction } = JSON.parse(body ?? "") as { readonly signedTransaction: string };
    return send(asking, fields(asking, { signedTransaction }));
  },
  mode_mismatch: (asking) => send(asking, fields(asking, { mode: "private" })),
  same_asset: (asking) => {
    const recipients = [{ address: asking.world.sender.address, amount: "25" }];
    return over(asking, { ...SAME_ASSET, amount: "25" }, { type: "swap", recipients });
  },
  amount_mismatch: (asking) => over(asking, { ...SAME_ASSET, amount: "24" }),
  recipients_mismatch: (asking) => {
    const recipients = [{ address: asking.world.sender.address, amount: "25" }];
    return over(asking, { ...SAME_ASSET, amount: "25", sender: asking.world.sender.address, recipients });
  },
  sender_mismatch: (asking) => {
    return over(asking, { ...SAME_ASSET, amount: "25", sender: asking.world.recipient.address });
  },
};

/** A wallet of this case alone. */
const stranger = (
  { world, tenant }: Asking,
  name: string,
  funds: Parameters<Asking["world"]["payments"]["wallet"]>[1],
): Wallet => world.payments.wallet(`${name} ${tenant.caller.accountId}`, funds);

/** The send of the example to somebody else, over a quote that is bound to nobody, by these instructions of its sender. */
async function sending(
  asking: Asking,
  to: string,
  instructions: readonly TransactionInstruction[],
): Promise<JudgedAnswer> {
  const { payments, sender } = asking.world;
  const { quoteId } = await quoted(asking, { ...SAME_ASSET, amount: "1" });
  const signedTransaction = await signed(payments, { signers: [sender], instructions });
  const recipients = [{ address: to, amount: "1" }];
  return send(asking, fields(asking, { quoteId, recipients, signedTransaction }));
}

/** One USDC from the sender's token account to that of somebody else, which it does not make. */
function transferTo({ world: { payments, sender } }: Asking, to: string): TransactionInstruction {
  const account = (of: string): PublicKey => new PublicKey(associatedTokenAddress(of, payments.mints.USDC));
  const mint = new PublicKey(payments.mints.USDC);
  return createTransferCheckedInstruction(
    account(sender.address),
    mint,
    account(to),
    keyOf(sender),
    1_000_000n,
    6,
  );
}

const TRANSACTION_WOULD_FAIL: ByReason<ReasonOf<"TRANSACTION_WOULD_FAIL">> = {
  no_token_account: (asking) => {
    const { address } = stranger(asking, "without account", { lamports: LAMPORTS_OF_A_SOL });
    return sending(asking, address, [transferTo(asking, address)]);
  },
  frozen: async (asking) => {
    const cold = stranger(asking, "cold", { lamports: LAMPORTS_OF_A_SOL, usdc: 100_000_000n });
    const draft = await signedBy(asking, cold);
    await asking.world.payments.freeze(cold, "USDC");
    return send(asking, draft);
  },
  program_error: (asking) => {
    const { recipient } = asking.world;
    // A memo that is no text: its program refuses it.
    const programId = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
    const memo = new TransactionInstruction({ programId, keys: [], data: Buffer.from([0xff, 0xfe]) });
    return sending(asking, recipient.address, [transferTo(asking, recipient.address), memo]);
  },
};

const INSUFFICIENT_BALANCE: ByReason<ErrorDetails["INSUFFICIENT_BALANCE"]["component"]> = {
  amount: async (asking) =>
    send(asking, await signedBy(asking, stranger(asking, "poor", { lamports: LAMPORTS_OF_A_SOL, usdc: 1n }))),
  fee: async (asking) =>
    send(asking, await signedBy(asking, stranger(asking, "without SOL", { usdc: 100_000_000n }))),
  rent: async (asking) => {
    const { world, tenant } = asking;
    const { payments } = world;
    // Enough for the fee, and not for the account of somebody who has none.
    const payer = stranger(asking, "nearly without SOL", { lamports: 1_500_000n, usdc: 100_000_000n });
    const { address } = stranger(asking, "new", { lamports: LAMPORTS_OF_A_SOL });
    const { body } = await payments.prepareSend(tenant.caller, { from: payer, to: address, amount: "25" });
    return send(asking, plain(tenant, "POST", "/v1/transactions", body));
  },
};

const SERVICE_PAUSED: ByReason<NonNullable<ErrorDetails["SERVICE_PAUSED"]["reason"]>> = {
  clock: (asking) => hourBehind(asking, draftOf(asking)),
};

const ALREADY_PROCESSED: ByReason<OwnReasonOf<"ALREADY_PROCESSED", "deposit_detected">> = {
  broadcast: async (asking) => {
    const { payments, sender, recipient } = asking.world;
    const payment = { from: sender, to: recipient.address, amount: "2" };
    const { transactionId } = await payments.send(asking.tenant.caller, payment);
    await payments.service.settled();
    return send(asking, cancelOf(asking, transactionId));
  },
};

interface RefusedFor {
  readonly operationId: string;
  readonly cases: Readonly<Record<string, ErrorCase>>;
}

/** What is refused for a reason, and by which endpoint. */
export const REASONS: Readonly<Record<string, RefusedFor>> = {
  INVALID_RECIPIENT: {
    operationId: "createTransaction",
    cases: {
      ...INVALID_RECIPIENT,
      ...PRIVATE_REASONS.INVALID_RECIPIENT,
    },
  },
  INVALID_SIGNATURE: { operationId: "createTransaction", cases: INVALID_SIGNATURE },
  INVALID_URL: { operationId: "registerWebhook", cases: INVALID_URL }, // modules: webhooks
  ALREADY_PROCESSED: {
    operationId: "cancelTransaction",
    cases: {
      ...ALREADY_PROCESSED,
      ...PRIVATE_REASONS.ALREADY_PROCESSED,
    },
  },
  INVALID_QUOTE: {
    operationId: "createTransaction",
    cases: {
      ...INVALID_QUOTE,
      ...SWAP_REASONS.INVALID_QUOTE,
    },
  },
  INSUFFICIENT_BALANCE: { operationId: "createTransaction", cases: INSUFFICIENT_BALANCE },
  TRANSACTION_WOULD_FAIL: { operationId: "createTransaction", cases: TRANSACTION_WOULD_FAIL },
  SERVICE_PAUSED: { operationId: "createTransaction", cases: SERVICE_PAUSED },
  ROUTING_UNAVAILABLE: {
    operationId: "createTransaction",
    cases: {
      ...PRIVATE_REASONS.ROUTING_UNAVAILABLE,
      ...PRIVATE_SWAP_REASONS.ROUTING_UNAVAILABLE,
    },
  },
};
