/** `paystate explain`: what an error of the API means, and what a caller does about it. */
import { ERRORS } from "../errors/error-table.ts";
import type { ErrorCode } from "../errors/errors.ts";
import { remediesOf } from "../errors/remedies.ts";
import { UsageError } from "./command.ts";
import { table } from "./table.ts";

/** The explanation of a code such as `INVALID_QUOTE`, or of one of its reasons, such as `INVALID_QUOTE.expired`. */
export function explain(asked: string): string {
  const [code = "", reason, ...more] = asked.split(".");
  if (!isCode(code)) throw new UsageError(`there is no error "${code}": expected one of\n${codes()}`);
  const remedies = remediesOf(code);
  const wanted = reason === undefined ? remedies : remedies.filter((each) => each.reason === reason);
  if (wanted.length === 0 || more.length > 0) {
    const reasons = remedies.flatMap((each) => each.reason ?? []);
    const expected = reasons.length === 0 ? `${code} alone: it has no reasons` : reasons.join(", ");
    throw new UsageError(`${code} has no reason "${[reason, ...more].join(".")}": expected ${expected}`);
  }
  const { status, message } = ERRORS[code];
  const rows = wanted.map((each) => [each.reason ?? "", each.remedy]);
  const [row, ...others] = rows;
  const isOne = row?.[0] === "" && others.length === 0;
  return [
    `${code} (HTTP ${status})`,
    message,
    "",
    isOne ? row[1] : table(["reason", "what to do"], rows, ""),
  ].join("\n");
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function codes(): string {
  return Object.keys(ERRORS).join(", ");
}
