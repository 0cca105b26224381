/** Every reason that the details of an error can give comes from a request, as it is described. */
import { expect } from "vitest";
import { z } from "zod";
import { ERRORS } from "../../src/errors/error-table.ts";
import type { ErrorCode } from "../../src/errors/errors.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { AnswerJudge, codeOf } from "./answer-judge.ts";
import type { ErrorCase } from "./asking.ts";
import { contractTest as test } from "./contract-test.ts";
import { REASONS } from "./reason-cases.ts";

const judge = new AnswerJudge();
const CASES = Object.entries(REASONS).flatMap(([code, { operationId, cases }]) =>
  Object.entries<ErrorCase>(cases).map(([reason, refused]) => ({ code, reason, operationId, refused })),
);

test.for(CASES)("$code tells $reason", async ({ code, reason, operationId, refused }, { world }) => {
  const endpoint = ENDPOINTS.find((each) => each.operationId === operationId);
  if (endpoint === undefined) throw new Error(`there is no endpoint ${operationId}`);
  const answer = await refused({ world, tenant: await world.tenant(), endpoint });
  const { error } = JSON.parse(answer.text) as {
    readonly error: { readonly details: Record<string, unknown> };
  };
  expect([codeOf(answer.text), error.details["reason"] ?? error.details["component"]]).toEqual([
    code,
    reason,
  ]);
  expect(judge.problemsOf(answer)).toEqual([]);
});

// modules: webhooks
test("no code has reasons that no request stands for", () => {
  const withReasons = Object.entries(ERRORS).filter(([, { details }]) =>
    Object.values<z.ZodType>(details.shape).some(
      (shape) => "enum" in (shape instanceof z.ZodExactOptional ? shape.unwrap() : shape),
    ),
  );
  const codes = withReasons.map(([code]) => code as ErrorCode);
  expect(codes.toSorted()).toEqual(Object.keys(REASONS).toSorted());
});
