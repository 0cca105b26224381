/** Reads the query of a URL as the object that the service checks. */
import { PaymentError } from "../errors.ts";

/** The parameters whose values are numbers; of all others digits are text. */
const WHOLE_NUMBERS: ReadonlySet<string> = new Set(["limit", "wait"]);

/** Throws `VALIDATION_ERROR` for a parameter that is there twice: which of them is meant nobody can tell. */
export function readQuery(url: string): Readonly<Record<string, unknown>> {
  const { searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const fields = [{ path: twice.slice(0, 128), message: "is given twice" }];
    throw new PaymentError("VALIDATION_ERROR", { fields });
  }
  return Object.fromEntries(
    [...searchParams].map(([name, text]) => [
      name,
      WHOLE_NUMBERS.has(name) && /^[0-9]{1,9}$/.test(text) ? Number(text) : text,
    ]),
  );
}
