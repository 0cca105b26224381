/** Reads the form of an act: no more of it than a form may hold, and also where a framework has read it before. */
import { bytesWithin } from "../core/bytes-within.ts";

/** A request with what a framework has read of it. */
export interface FormRequest {
  readonly request: Request;
  /** Gives the body when it was read before; null when it is still to be read. Throws where it was left nowhere. */
  readonly readBefore: (() => Uint8Array) | null;
}

/** A form cannot be read. The message says why, and what to do about it. Nothing was done. */
export class FormRefused extends Error {
  override readonly name = "FormRefused";
  readonly status: 400 | 413 | 500;

  constructor(status: 400 | 413 | 500, message: string) {
    super(message);
    this.status = status;
  }
}

const MAX_FORM_BYTES = 64 * 1024;

/** The fields of the form. @throws FormRefused */
export async function readForm({ request, readBefore }: FormRequest): Promise<URLSearchParams> {
  if (readBefore !== null) return fieldsOf(checkedLength(leftOf(readBefore)));
  if (request.bodyUsed || request.body?.locked === true) {
    throw new FormRefused(
      500,
      "Nothing was done: the form was read before the inspector. Hand it request.clone(), or mount it before what reads the body.",
    );
  }
  const bytes = await bytesWithin(whole(request.body), MAX_FORM_BYTES);
  if (bytes === null) throw tooLong();
  return fieldsOf(bytes);
}

/** A mistake in the host's own program is shown in full: only its developer can correct it. */
function leftOf(readBefore: () => Uint8Array): Uint8Array {
  try {
    return readBefore();
  } catch (error) {
    throw new FormRefused(
      500,
      `Nothing was done: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}

function checkedLength(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_FORM_BYTES) throw tooLong();
  return bytes;
}

async function* whole(body: Request["body"]): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  try {
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch {
    throw new FormRefused(400, "Nothing was done: the form broke off on its way.");
  }
}

/** A parser leaves the fields of a form as an object, and that is handed on as JSON. */
function fieldsOf(bytes: Uint8Array): URLSearchParams {
  const text = Buffer.from(bytes).toString("utf8");
  if (!text.startsWith("{")) return new URLSearchParams(text);
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(parsed(text))) {
    if (typeof value === "string") fields.append(name, value);
  }
  return fields;
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    throw new FormRefused(400, "Nothing was done: expected the form of one of the inspector's own pages.");
  }
}

function tooLong(): FormRefused {
  return new FormRefused(413, `Nothing was done: a form has at most ${MAX_FORM_BYTES / 1024} KiB.`);
}
