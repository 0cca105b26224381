/** The table of errors: one code, one status, one sentence, and details that the compiler knows. */
import { expect, test } from "vitest";
import { z } from "zod";
import { ERRORS, type ErrorKind } from "../../src/errors/error-table.ts";
import { isPaymentError, PaymentError, type ErrorCode } from "../../src/errors/errors.ts";
import { remediesOf } from "../../src/errors/remedies.ts";

const KINDS: readonly (readonly [string, ErrorKind])[] = Object.entries(ERRORS);

test("details that are not the code's do not compile", () => {
  const right = { transactionId: "tx_0", currentStatus: "completed", allowedStatuses: ["pending"] };
  expect(new PaymentError("CANNOT_CANCEL", right).details).toEqual(right);
  // @ts-expect-error -- a field is missing
  expect(new PaymentError("CANNOT_CANCEL", { transactionId: "tx_0" }).code).toBe("CANNOT_CANCEL");
  // @ts-expect-error -- there is no such reason
  expect(new PaymentError("INVALID_SIGNATURE", { reason: "ugly" }).code).toBe("INVALID_SIGNATURE");
  // @ts-expect-error -- these are another code's details
  expect(new PaymentError("INTERNAL_ERROR", right).code).toBe("INTERNAL_ERROR");
  // @ts-expect-error -- there is no such code
  expect(() => new PaymentError("CANNOT_PAY", {})).toThrow(TypeError);
});

test("a code narrows the details", () => {
  const thrown: unknown = new PaymentError("UNSUPPORTED_MEDIA_TYPE", { expected: "application/json" });
  expect(isPaymentError(thrown, "UNSUPPORTED_MEDIA_TYPE") && thrown.details.expected).toBe(
    "application/json",
  );
  expect(isPaymentError(thrown, "INTERNAL_ERROR")).toBe(false);
  expect(isPaymentError(new Error("UNSUPPORTED_MEDIA_TYPE"))).toBe(false);
});

test.each(KINDS)("%s has a status of errors, and a sentence that is the same each time", (code, kind) => {
  expect(kind.status).toBeGreaterThanOrEqual(400);
  expect(kind.message).toMatch(/^[A-Z].*\.$/);
  expect(new PaymentError(code as ErrorCode, {}).message).toBe(kind.message);
});

test.each(KINDS)("%s has a remedy for each of its reasons, a sentence", (code, { details }) => {
  const remedies = remediesOf(code as ErrorCode);
  const shape: unknown = details.shape["reason"];
  const reasons: readonly unknown[] = shape instanceof z.ZodEnum ? shape.options : [null];
  expect(new Set(remedies.map(({ reason }) => reason))).toEqual(new Set(reasons));
  for (const { remedy } of remedies) expect(remedy).toMatch(/^[A-Z].*\.$/);
});

test("what is to be tried again later says when, and nothing else does", () => {
  const withRetry = KINDS.filter(([, { header }]) => header?.name === "Retry-After").map(([code]) => code);
  expect(withRetry).toEqual([
    "RATE_LIMIT_EXCEEDED",
    "UPSTREAM_ERROR",
    "SERVICE_PAUSED",
    "ROUTING_UNAVAILABLE",
    "STORAGE_UNAVAILABLE",
    "OUTCOME_UNKNOWN",
  ]);
  const withField = KINDS.filter(([, { details }]) => "retryAfter" in details.shape).map(([code]) => code);
  expect(withField).toEqual(withRetry);
});
