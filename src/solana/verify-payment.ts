/** Proves that caller-signed bytes are exactly the declared payment. */
import { createHash } from "node:crypto";
import type { Account } from "./rpc/account.ts";
import bs58 from "bs58";
import type { Address } from "../core/address.ts";
import type { Evidence } from "../ledger/belief.ts";
import type {
  AccountKind,
  DeclaredPayment,
  ExaminedPayment,
  SignatureFault,
  VerifiedPayment,
} from "../ledger/ledger.ts";
import { agree, follows, unasked } from "./agree.ts";
import type { NodeContext } from "./ask.ts";
import { landingWindow } from "./blockhash-window.ts";
import { decodeTransaction, type DecodedTransaction } from "./decode-transaction.ts";
import { ACCOUNT_HEAD, TOKEN_PROGRAM } from "./programs.ts";
import { setsLimits } from "./message-v1.ts";
import { matchContent, type UnprovenAccountSet } from "./match-content.ts";
import { MAX_PRIORITY_FEE, priorityFee, readInstruction } from "./read-instruction.ts";
import { accountKinds, readAccounts } from "./accounts.ts";
import { resolveInstructions } from "./resolve-instructions.ts";
import { takesVersion1 } from "./genesis-hash.ts";
import { readTokenAccount } from "./token-accounts.ts";
import { isSignedBy } from "../core/ed25519.ts";
import { ED25519_TORSION_SUBGROUP } from "@noble/curves/ed25519";

/**
 * Verifies in fixed steps; the first failing step gives the reason. Free checks come before questions to nodes, so
 * garbage never reaches a node; the content is checked before the lifetime.
 */
export async function verifyPayment(
  nodes: NodeContext,
  putativeTransaction: string,
  payment: DeclaredPayment,
): Promise<ExaminedPayment | { readonly refused: SignatureFault }> {
  const decoding = decodeTransaction(putativeTransaction);
  if ("refused" in decoding) return decoding;
  const transaction = decoding.decoded;
  const fault = signatureFault(transaction) ?? signerFault(transaction, payment) ?? limitFault(transaction);
  if (fault !== null) return { refused: fault };
  const content = await judgeContent(nodes, transaction, payment);
  if ("refused" in content) return content;
  const { message, messageBytes, bytes, signatures } = transaction;
  const window = await landingWindow(nodes, message.recentBlockhash);
  if (window === null) return { refused: "blockhash_expired" };
  const verified = {
    bytes,
    signature: bs58.encode(signatures[0] ?? new Uint8Array()),
    messageHash: createHash("sha256").update(messageBytes).digest("hex"),
    blockhash: message.recentBlockhash,
    lastValidBlockHeight: window.lastValidBlockHeight,
    firstSlot: window.firstSlot,
    references: content.references,
  };
  return { verified: follows(content.proof, () => verified), payees: content.payees };
}

/** The sender pays the fee and signs alone: an undeclared co-signer would make it a different transaction. */
function signerFault(
  { message, signatures }: DecodedTransaction,
  payment: DeclaredPayment,
): SignatureFault | null {
  const [payer] = message.staticAccountKeys;
  const [signature] = signatures;
  if (payer?.toBase58() !== payment.sender || signature === undefined) return "sender_not_signer";
  if (signatures.length > 1) return "content_mismatch";
  const points = [payer.toBytes(), signature.subarray(0, POINT_BYTES)];
  return points.some(isOfSmallOrder) ? "bad_signature" : null;
}

const POINT_BYTES = 32;

/** Without both limits a transaction of version 1 fails on the chain, and its sender pays the fee all the same. */
function limitFault({ message }: DecodedTransaction): SignatureFault | null {
  return setsLimits(message) ? null : "missing_limits";
}

/** The declared form of the payment. */
interface JudgedContent {
  readonly proof: Evidence<boolean>;
  /** Read beside what the proof reads. */
  readonly payees: Promise<Evidence<readonly AccountKind[]>>;
  readonly references: VerifiedPayment["references"];
}

/** Reads the meaning of the message, and compares it with the declaration. */
async function judgeContent(
  nodes: NodeContext,
  transaction: DecodedTransaction,
  payment: DeclaredPayment,
): Promise<JudgedContent | { readonly refused: SignatureFault }> {
  const { message } = transaction;
  if (message.version === 1 && !(await takesVersion1(nodes))) return { refused: "unsupported_version" };
  const instructions = await resolveInstructions(nodes, transaction);
  if (instructions === null) return { refused: "unknown_lookup_table" };
  const meanings = instructions.map(readInstruction);
  if (meanings.some(({ does }) => does === "use_nonce")) return { refused: "durable_nonce" };
  if (meanings.some(({ does }) => does === "something_else")) return { refused: "instruction_not_allowed" };
  const unproven = await matchContent(meanings, payment);
  if (unproven === null) return { refused: "content_mismatch" };
  if (priorityFee(message, meanings) > MAX_PRIORITY_FEE) return { refused: "content_mismatch" };
  const payees = accountKinds(
    nodes,
    payment.transfers.map(({ recipient }) => recipient),
  );
  // Checks that refuse the bytes come first.
  payees.catch(() => undefined);
  const proof = await areOwnedAsDeclared(nodes, unproven, payment);
  if (!proof) return { refused: "content_mismatch" };
  const references = meanings.flatMap((each) => ("references" in each ? each.references : []));
  return { proof, payees, references };
}

/** An ATA that does not exist (yet) neither pays nor is paid: simulation will say so. */
async function areOwnedAsDeclared(
  nodes: NodeContext,
  { sources, associated }: UnprovenAccountSet,
  { sender, mint }: DeclaredPayment,
): Promise<Evidence<boolean>> {
  const asked = [...sources, ...associated.keys()];
  if (asked.length === 0) return unasked(true);
  const read = readAccounts(asked, "confirmed", ACCOUNT_HEAD);
  const owners = await agree(nodes, {
    of: "verifyPayment",
    subject: "the owner of a token account",
    question: async (endpoint) => (await read(endpoint)).map((account) => ownerIn(account, mint)),
    textOf: (told) => told.join(" "),
  });
  const found = owners.slice(sources.size);
  return follows(
    owners,
    () =>
      owners.slice(0, sources.size).every((owner) => owner === sender) &&
      [...associated.values()].every((owner, index) => found[index] === "absent" || found[index] === owner),
  );
}

/** The owner of a token account of this mint. `other`: the account is something else. */
function ownerIn(account: Account | null, mint: Address | null): Address | "absent" | "other" {
  if (account === null) return "absent";
  const held = account.owner === TOKEN_PROGRAM ? readTokenAccount(account.data) : null;
  return held?.mint === mint ? held.owner : "other";
}

/** Judges all of a transaction's signatures, over the message bytes as they were received. Null: every one is good. */
function signatureFault(transaction: DecodedTransaction): "missing_signature" | "bad_signature" | null {
  const { signatures, message, messageBytes } = transaction;
  // Wallets fill the place of a signature that is still to be made with zeros.
  if (signatures.some((signature) => signature.every((byte) => byte === 0))) return "missing_signature";
  const good = signatures.every((signature, index) => {
    const signer = message.staticAccountKeys[index];
    return signer !== undefined && isSignedBy(signer.toBytes(), messageBytes, signature);
  });
  return good ? null : "bad_signature";
}

// The last bit of an encoding is the sign of x. With both signs of each y the table would say the same twice.
const SIGN_BYTE = 31;
const SIGN_BIT = 0x80;
// y = 0 and y = 1 have a second encoding, y + p, that decoders take: p and p + 1, where p = 2^255 - 19.
const WRITTEN_ANOTHER_WAY = [0xed, 0xee].map((first) => `${first.toString(16)}${"ff".repeat(30)}7f`);
const SMALL_ORDER: ReadonlySet<string> = new Set(
  [...ED25519_TORSION_SUBGROUP, ...WRITTEN_ANOTHER_WAY].map((hex) => withoutSign(Buffer.from(hex, "hex"))),
);

/**
 * True for every encoding of the eight points whose order divides eight. Anybody can sign for such a key (the System
 * program's address is one). Node's verification lets such keys and signatures pass; the chain's does not
 * (`verify_strict` of ed25519-dalek).
 */
export function isOfSmallOrder(point: Uint8Array): boolean {
  return SMALL_ORDER.has(withoutSign(point));
}

function withoutSign(point: Uint8Array): string {
  const bytes = Buffer.from(point);
  bytes[SIGN_BYTE] = (bytes[SIGN_BYTE] ?? 0) & ~SIGN_BIT;
  return bytes.toString("hex");
}
