/** Reads the query of a URL as the object that the service checks. */
import { z } from "zod";
import { PaymentError } from "../errors.ts";

/**
 * The parameters by name: digits are a number where the schema wants one, and text everywhere else. Throws
 * `VALIDATION_ERROR` for a parameter that is there twice: which of them is meant is not known.
 */
export function readQuery(url: string, schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const fields = [{ path: twice.slice(0, 128), message: "is given twice" }];
    throw new PaymentError("VALIDATION_ERROR", { fields });
  }
  return Object.fromEntries(
    [...searchParams].map(([name, text]) => {
      const wanted: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
      return [name, isNumber(wanted) && /^[0-9]{1,9}$/.test(text) ? Number(text) : text];
    }),
  );
}

function isNumber(schema: unknown): boolean {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return isNumber(schema.unwrap());
  return schema instanceof z.ZodNumber;
}
