/** Remedies of the API's errors: for each code, and for each of its reasons, what a caller does about the error. */
import { ERRORS, type ErrorCode, type ErrorDetails } from "./error-table.ts";

/**
 * The sentence of a remedy that leaves the quote as it is priced: before a caller is told it, the quote is closed until it is
 * refreshed: a request that still asks the chain must not use a quote that its caller has given up. Where the remedy is other
 * bytes under the same quote, the quote's single use is what refuses a second payment.
 */
interface AnotherQuote {
  readonly anotherQuote: string;
}

type Remedy = string | AnotherQuote;

/** One remedy, or one for each `details.reason` of a code that always tells a reason. */
type Remedies<Details> = Details extends { readonly reason: infer Reason extends string }
  ? Readonly<Record<Reason, Remedy>>
  : Remedy;

const closing = (anotherQuote: string): AnotherQuote => ({ anotherQuote });

/** Remedies by code, in the order of the error table. */
const REMEDIES: { readonly [Code in ErrorCode]: Remedies<ErrorDetails[Code]> } = {
  VALIDATION_ERROR: "Correct each field that `details.fields` names, and send the request again.",
  INVALID_RECIPIENT: {
    not_base58: "Copy the address again: base58 has no 0, O, I and l.",
    wrong_length: "Copy the address again: an address has 32 bytes, which are 32 to 44 characters.",
    duplicate: "Name each recipient once, with the sum of the amounts.",
    token_account: "Name the wallet that owns this token account.",
    program: "Name a wallet: nobody holds a key to what a program receives.",
    mint: "Name a wallet: this is the address of a token, not of an owner.",
    off_curve:
      "Name a wallet, since no private key can sign for this address; if it is a vault that a program pays out of, say `allowOffCurve: true` beside it, in the quote too.",
    not_sender: "Name the sender: what a swap of wallet mode buys goes to the wallet that signs.",
    own_address: "Name a wallet of yours: this address belongs to the service.",
    not_served: "Pay somebody else: the operator of this service does not serve this address.",
  },
  INVALID_SIGNATURE: {
    not_base64: "Encode the signed bytes as standard base64, with padding.",
    too_large: "Sign the transaction of the quote: no transaction has more bytes than the network takes.",
    undecodable:
      "Send the whole signed transaction, in the network's own format, with nothing behind its end.",
    unsupported_version: "Build the transaction in a version that the quote names.",
    missing_signature: "Let every required signer sign before the bytes are sent.",
    bad_signature: "Sign the same message again, and change nothing afterwards.",
    sender_not_signer: "Sign with the wallet that `sender` names.",
    content_mismatch: "Sign exactly what was quoted.",
    instruction_not_allowed: "Leave out instructions that the quote does not ask for.",
    blockhash_expired: closing("Refresh the quote, sign its transaction, and send the bytes at once."),
    durable_nonce:
      "Use a recent blockhash: transactions over a durable nonce never expire, so none is taken.",
    unknown_lookup_table: "Use address lookup tables that are on the chain, or none.",
    missing_limits: "Set the limits of compute units and of loaded account data: version 1 needs both.",
  },
  INVALID_URL: {
    unparseable: "Give an absolute URL, such as `https://shop.example/hooks`.",
    not_https: "Use `https://`.",
    credentials: "Leave user name and password out of the URL: each delivery is signed instead.",
    private_address:
      "Use a host that is reached over the public internet; a service for development may take `http://127.0.0.1`.",
    too_long: "Use a URL of at most 2,048 characters.",
    bad_host: "Use a public host name with a dot, or a public IP address.",
    bad_port: "Use port 443, or a port from 1024 on.",
  },
  INVALID_EVENTS: "Name at least one event, out of `details.allowed`.",
  INVALID_ADDRESS: "Copy the address again: 32 bytes in base58.",
  INVALID_ASSET: "Use a symbol or a mint of `GET /v1/tokens`.",
  INVALID_API_KEY: "Send `Authorization: Bearer` with a key of this environment that was not revoked.",
  UNAUTHORIZED: "Use a key of the account that made the transaction.",
  INSUFFICIENT_SCOPE: "Use a key with the scope `details.required`.",
  ACCOUNT_SUSPENDED: "Ask the operator of this service: what is under way goes on.",
  TRANSACTION_NOT_FOUND: "Check the id, and that the key is of the same environment.",
  QUOTE_NOT_FOUND: "Check the id, or get a new quote: those long expired are removed.",
  WEBHOOK_NOT_FOUND: "Check the id: `GET /v1/webhooks` lists those of the account.",
  DELIVERY_NOT_FOUND: "Check the id: `GET /v1/webhooks/{webhookId}/deliveries` lists them.",
  NOT_FOUND: "Check the path: `GET /v1/openapi.json` lists all.",
  METHOD_NOT_ALLOWED: "Use a method of `details.allowed`.",
  CANNOT_CANCEL: "Leave the transaction as it is: it is final, or too far to be stopped.",
  ALREADY_PROCESSED: {
    broadcast: "Wait for the end: bytes that have left cannot be called back.",
    deposit_detected: "Wait for the end: where the order cannot be paid out, the deposit is returned.",
  },
  DUPLICATE_TRANSACTION:
    "Read the transaction `details.transactionId`; without one, look its signature up on the chain, where it has landed, before you sign anything else.",
  WEBHOOK_LIMIT_EXCEEDED: "Delete a webhook that is not used.",
  PAYLOAD_TOO_LARGE: "Send fewer bytes, and no body in thousands of pieces.",
  UNSUPPORTED_MEDIA_TYPE: "Send JSON with `Content-Type: application/json`.",
  INVALID_QUOTE: {
    not_found: "Check the id, and that the key belongs to the account of the quote.",
    expired: closing("Refresh the quote, or get a new one: this quote is closed as it stands."),
    used: "Read the transaction that `GET /v1/quotes/{quoteId}` names: it is this quote's payment. Get a new quote only for another payment.",
    price_moved: closing(
      "Refresh the quote, or get a new one: the price has changed by more than this one allows.",
    ),
    mode_mismatch: "Name the mode that was quoted.",
    same_asset: "Name two different assets.",
    asset_mismatch: "Name the assets that were quoted.",
    amount_mismatch: "Name the amounts that were quoted.",
    recipients_mismatch: "Name the recipients that were quoted, in their order.",
    sender_mismatch: "Name the sender that was quoted.",
  },
  INSUFFICIENT_BALANCE:
    "Let the sender receive `details.shortfall` of the asset, and send the request again.",
  TRANSACTION_WOULD_FAIL: {
    no_token_account: "Let the sender receive the token first: the sender has no account of it.",
    frozen: "Ask the issuer of the token: an account is frozen. Then send the same bytes again.",
    program_error:
      "Read `details.logs`: a program on the chain refuses the transaction. Mend the cause, and send the same bytes again.",
  },
  URL_UNREACHABLE: "Let the URL answer from the public internet with a certificate that is trusted.",
  AMOUNT_TOO_SMALL: closing("Get a quote for at least `details.minimum`."),
  AMOUNT_TOO_LARGE: closing("Get a quote for at most `details.maximum`."),
  INSUFFICIENT_LIQUIDITY: closing("Get a quote for less, or later."),
  IDEMPOTENCY_KEY_REUSED:
    "Use a new key for a new request; repeat the first body, or read `details.transactionId`, for its answer.",
  VOLUME_LIMIT_EXCEEDED:
    "Wait until part of the window has passed, or ask the operator for a higher limit. Cancelled and failed transactions keep their share until then.",
  RATE_LIMIT_EXCEEDED: "Wait `details.retryAfter` seconds.",
  INTERNAL_ERROR:
    "Send the same request again with its Idempotency-Key, and tell the operator `details.requestId`.",
  UPSTREAM_ERROR: "Wait `details.retryAfter` seconds, and send the same request again.",
  SERVICE_PAUSED: "Wait `details.retryAfter` seconds, and send the same request again.",
  ROUTING_UNAVAILABLE: {
    paused: "Wait: the operator has paused private mode.",
    liquidity: "Swap later, or in wallet mode.",
    capacity: "Wait until orders under way have ended.",
    upstream: "Wait `details.retryAfter` seconds, and send the same request again.",
    clock: "Wait: the operator has to set the service's clock.",
    off: "Send in wallet mode, or use another service: this one was set up without private mode, or without swaps.",
  },
  STORAGE_UNAVAILABLE: "Wait `details.retryAfter` seconds, and send the same request again.",
  OUTCOME_UNKNOWN:
    "Send the same request again with its Idempotency-Key: the answer then tells what happened.",
};

/** An error in the form in which its remedy is asked for; `reason` is null for a code without reasons. */
export interface RemediedError {
  readonly code: ErrorCode;
  readonly reason: string | null;
  readonly remedy: string;
}

/** Each remedy of a code with the reason that it belongs to. */
export function remediesOf(code: ErrorCode): readonly RemediedError[] {
  return rowsOf(code).map(([reason, remedy]) => ({ code, reason, remedy: sentenceOf(remedy) }));
}

/** The message of an error: the code's own sentence and, where the details give a reason, the remedy of the reason. */
export function messageOf(code: ErrorCode, details: object): string {
  const { message } = ERRORS[code];
  return "reason" in details ? `${message} ${sentenceOf(rowFor(code, details))}` : message;
}

/** Whether the remedy begins with another quote: then the old one must be closed first. */
export function asksForAnotherQuote({
  code,
  details,
}: {
  readonly code: ErrorCode;
  readonly details: object;
}): boolean {
  return typeof rowFor(code, details) !== "string";
}

function sentenceOf(remedy: Remedy): string {
  return typeof remedy === "string" ? remedy : remedy.anotherQuote;
}

function rowFor(code: ErrorCode, details: object): Remedy {
  const reason = "reason" in details ? details.reason : null;
  const rows = rowsOf(code);
  const row = rows.find(([of]) => of === reason) ?? rows[0];
  if (row === undefined) throw new Error(`${code} has no remedy`);
  return row[1];
}

function rowsOf(code: ErrorCode): readonly (readonly [string | null, Remedy])[] {
  const remedies: Remedy | Readonly<Record<string, Remedy>> = REMEDIES[code];
  if (typeof remedies === "string" || isAnotherQuote(remedies)) return [[null, remedies]];
  return Object.entries(remedies);
}

function isAnotherQuote(remedies: AnotherQuote | Readonly<Record<string, Remedy>>): remedies is AnotherQuote {
  return typeof remedies["anotherQuote"] === "string";
}
