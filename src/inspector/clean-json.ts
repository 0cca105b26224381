/** Stored JSON without secrets, still JSON: each text in it is redacted, and what stands under a telling name or looks like bytes is left out. */
import { isSecretName } from "../core/redacting-log.ts";

/** Takes what looks like a secret out of a text. */
export type SecretFilter = (text: string) => string;

/** Stands where a secret stood. */
const GONE = "***";
/** No chart stores what is deeper; a file from elsewhere may. */
const MAX_DEPTH = 200;
/** This many small numbers in a row are taken for the bytes of a key, a signature or a signed transaction. */
const MIN_BYTES = 32;

/** The value of a JSON text as it may be shown. @throws SyntaxError when the text is no JSON. */
export function cleanJson(text: string, redact: SecretFilter): unknown {
  return new Cleaner(redact).clean(JSON.parse(text), 0);
}

class Cleaner {
  readonly #redact: SecretFilter;
  readonly #told = new Map<string, boolean>();

  constructor(redact: SecretFilter) {
    this.#redact = redact;
  }

  clean(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#redact(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH || isBytes(value)) return GONE;
    if (Array.isArray(value)) return value.map((each) => this.clean(each, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [this.#redact(name), this.#cleanField(name, each, depth)]),
    );
  }

  #cleanField(name: string, value: unknown, depth: number): unknown {
    if (value !== null && this.#isTelling(name)) return GONE;
    const isList = name === LIST && Array.isArray(value);
    return this.clean(isList ? this.#withoutHidden(value) : value, depth + 1);
  }

  /** Whether a field of this name holds a secret, regardless of its value. */
  #isTelling(name: string): boolean {
    const known = this.#told.get(name);
    if (known !== undefined) return known;
    const field = `${JSON.stringify(name)}:"1"`;
    const isTold = isSecretName(name) || this.#redact(field) !== field;
    this.#told.set(name, isTold);
    return isTold;
  }

  /** In a list whose values refer to each other by place, follows a secret name to its value. */
  #withoutHidden(list: readonly unknown[]): unknown[] {
    const hidden = new Set<number>();
    const hide = (place: unknown): void => {
      if (typeof place !== "number" || hidden.has(place)) return;
      hidden.add(place);
      const value = list[place];
      if (typeof value === "object" && value !== null) Object.values(value).forEach(hide);
    };
    for (const value of list) for (const place of this.#toldBy(value, list)) hide(place);
    return list.map((value, place) => (hidden.has(place) || isPackedBytes(value) ? GONE : value));
  }

  /** The places that an entry of such a list names as secrets: fields of an object, values of a map. */
  #toldBy(value: unknown, list: readonly unknown[]): unknown[] {
    if (typeof value !== "object" || value === null) return [];
    if (!Array.isArray(value)) {
      const fields: readonly (readonly [string, unknown])[] = Object.entries(value);
      return fields.flatMap(([name, place]) => (this.#isTelling(name) ? [place] : []));
    }
    if (value[0] !== "Map") return [];
    return value.filter((_, index) => {
      const name: unknown = index > 0 && index % 2 === 0 ? list[Number(value[index - 1])] : null;
      return typeof name === "string" && this.#isTelling(name);
    });
  }
}

/** The field of values that plain JSON cannot hold: a list whose entries refer to each other by place. */
const LIST = "$values";

/** Bytes as JSON has them: a list of small numbers, or an object with a number under each place. */
function isBytes(value: object): boolean {
  const values: unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (values.length < MIN_BYTES || (!Array.isArray(value) && !Object.hasOwn(value, "0"))) return false;
  return values.every((each) => Number.isInteger(each) && Number(each) >= 0 && Number(each) < 256);
}

/** Bytes as such a list has them: the name of their class, and base64. */
function isPackedBytes(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    typeof value[1] === "string" &&
    /^(?:ArrayBuffer|\w+Array)$/.test(String(value[0]))
  );
}
