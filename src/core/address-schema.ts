/** Addresses in requests and options: checked once, and branded from there on. */
import { z } from "zod";
import { parseAddress, type Address } from "./address.ts";

/** Longer texts are refused unread. */
const MAX_TEXT = 128;

/** Text that is an address, else `problem`. */
export function addressSchema(problem: string): z.ZodType<Address, string> {
  return z
    .string()
    .max(MAX_TEXT)
    .transform((text, context) => {
      const parsed = parseAddress(text);
      if ("address" in parsed) return parsed.address;
      context.issues.push({ code: "custom", message: problem, input: text });
      return z.NEVER;
    });
}
