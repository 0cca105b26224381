/** Verifies that a webhook comes from the service and is not a replay, and returns its notice. */
import type { Notice, NoticeEvent } from "../../payments/frame/notices/notice-body.ts";
import { keyOfSecret } from "../../payments/frame/notices/secret-key.ts";

/** The headers of a request, as `fetch` of any package, Node and most frameworks have them; names in any case. */
export type WebhookHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The secret that the webhook was registered with; during a replacement, the old and the new secret. */
export type WebhookSecret = string | readonly string[];

/** Options of a verification. */
export interface VerifyWebhookOptions {
  /**
   * The largest age of an attempt, and its largest lead over this machine's clock. 300,000 (five minutes) by default.
   */
  readonly toleranceMs?: number;
  /** Gives the present time in milliseconds since the Unix epoch; the machine's clock by default. */
  readonly now?: () => number;
}

/** A notice as its receiver gets it. Receivers may see one twice: `id` is the same each time. */
export type WebhookNotice = {
  readonly [Event in NoticeEvent]: Omit<Notice, "event" | "timestamp"> & {
    /** The stable id of the notice, the same on every attempt: keep it, and ignore what comes twice. */
    readonly id: string;
    readonly event: Event;
    /** The time at which the service recorded the status change or the event, ISO 8601. */
    readonly timestamp: string;
  };
}[NoticeEvent];

/**
 * Why a webhook was refused. `missing_header`: it carries no signature at all. `bad_timestamp`: its time is no number of
 * seconds. `bad_signature`: it was not signed with this secret, or was changed on its way. `too_old` and `too_new`: its time
 * is further from now than the tolerance. `bad_body`: it is signed, but is no notice.
 */
export type WebhookRefusal =
  "missing_header" | "bad_timestamp" | "bad_signature" | "too_old" | "too_new" | "bad_body";

/** Thrown by {@link verifyWebhook}: answer 400 and do nothing. */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused";
  readonly code: WebhookRefusal;

  constructor(code: WebhookRefusal, message: string) {
    super(message);
    this.code = code;
  }
}

const TOLERANCE_MS = 5 * 60_000;
/** A delivery has one for each secret, at most two. Each costs a look at the whole body, whoever has sent it. */
const MAX_SIGNATURES = 8;

/**
 * The notice in a webhook's raw body, once its signature and its time are right. Every attempt is signed with its own time,
 * so a retry hours later passes and an old request sent again does not. The signature is compared in constant time.
 *
 * `body` must be the raw body as it arrived: parsing and writing it again changes its bytes. Rejects with {@link WebhookRefused}, and
 * with a `TypeError` for a parsed body, an empty secret or a tolerance that is none.
 *
 * @example
 * ```ts
 * import { verifyWebhook, WebhookRefused } from "paystate/webhook";
 *
 * export async function POST(request: Request): Promise<Response> {
 *   try {
 *     const notice = await verifyWebhook(await request.text(), request.headers, "the secret of the webhook");
 *     if (notice.event === "transaction.completed") console.log(notice.id, notice.data.signature);
 *     return new Response(null, { status: 200 });
 *   } catch (error) {
 *     if (error instanceof WebhookRefused) return new Response(null, { status: 400 });
 *     throw error;
 *   }
 * }
 *
 * const forged = await POST(new Request("https://shop.example/hook", { method: "POST", body: "{}" }));
 * console.log(forged.status); // 400
 * ```
 */
// oxlint-disable-next-line max-params -- the published contract: body, headers and secret are what every receiver has
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: WebhookSecret,
  { toleranceMs = TOLERANCE_MS, now = Date.now }: VerifyWebhookOptions = {},
): Promise<WebhookNotice> {
  const secrets = checkedSecrets(secret);
  if (!Number.isFinite(toleranceMs) || toleranceMs < 0) {
    throw new TypeError("toleranceMs must be a number of milliseconds, 0 or more");
  }
  const text = textOf(body);
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = headerOf(headers, name);
    if (value === null) throw new WebhookRefused("missing_header", `there is no header ${name}`);
    return value;
  }) as [string, string, string];
  if (!/^\d{1,15}$/.test(timestamp)) {
    throw new WebhookRefused("bad_timestamp", "webhook-timestamp is no number of Unix seconds");
  }
  if (!(await isSigned({ text: `${id}.${timestamp}.${text}`, signatures, secrets }))) {
    throw new WebhookRefused("bad_signature", "the signature does not match this body and secret");
  }
  const ageMs = now() - Number(timestamp) * 1_000;
  if (ageMs > toleranceMs) throw new WebhookRefused("too_old", `it was sent ${ageMs} ms ago`);
  if (ageMs < -toleranceMs) throw new WebhookRefused("too_new", `it was sent ${-ageMs} ms too early`);
  // The header is last: a field `id` of the body is not the notice's id.
  return { ...parsed(text), id };
}

function checkedSecrets(secret: WebhookSecret): readonly string[] {
  const secrets = [secret].flat();
  if (secrets.length === 0 || secrets.some((each) => typeof each !== "string" || each === "")) {
    throw new TypeError("the secret must be the text that the webhook was registered with");
  }
  return secrets;
}

function textOf(body: string | Uint8Array | ArrayBuffer): string {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) {
    // The byte order mark is part of what was signed.
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  }
  throw new TypeError("the body must be the raw text or bytes, before anything has parsed it");
}

function headerOf(headers: WebhookHeaders, wanted: string): string | null {
  if (typeof headers.get === "function") return headers.get(wanted);
  const plain: readonly [string, unknown][] = Object.entries(headers);
  const found = plain.find(([name]) => name.toLowerCase() === wanted)?.[1];
  const value: unknown = Array.isArray(found) ? found[0] : found;
  return typeof value === "string" ? value : null;
}

interface Signed {
  readonly text: string;
  /** Signatures `v1,base64`, separated by spaces: during a change of secrets, a signature with each secret. */
  readonly signatures: string;
  readonly secrets: readonly string[];
}

/** Whether one of the signatures was made with one of the secrets, as Standard Webhooks has it. */
async function isSigned({ text, signatures, secrets }: Signed): Promise<boolean> {
  const given = signatures
    .split(" ")
    .filter((each) => each.startsWith("v1,"))
    .slice(0, MAX_SIGNATURES)
    .map((each) => bytesOf(each.slice(3)))
    .filter((bytes) => bytes !== null);
  const data = new TextEncoder().encode(text);
  for (const secret of secrets) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", keyOfSecret(secret), algorithm, false, ["verify"]);
    // Web Crypto compares in constant time.
    for (const signature of given) if (await crypto.subtle.verify("HMAC", key, signature, data)) return true;
  }
  return false;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function parsed(text: string): Omit<WebhookNotice, "id"> {
  try {
    const notice = JSON.parse(text) as Partial<WebhookNotice> | null;
    if (typeof notice?.event === "string" && typeof notice.data === "object") return notice as WebhookNotice;
  } catch {
    // Said below.
  }
  throw new WebhookRefused("bad_body", "it is signed, but is no notice");
}
