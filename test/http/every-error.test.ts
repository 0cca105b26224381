/** Every error that an endpoint declares comes from a request, as it is described; and no endpoint declares one too many. */
import { expect } from "vitest";
import { ERRORS } from "../../src/errors/error-table.ts";
import type { ErrorCode } from "../../src/errors/errors.ts";
import { errorsOf } from "../../src/http/contract/endpoint.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { AnswerJudge, codeOf } from "./answer-judge.ts";
import type { ErrorCase } from "./asking.ts";
import { contractTest as test } from "./contract-test.ts";
import { BROUGHT, CASES_OF_ANY, CASES_OF_ONE, HARMLESS } from "./error-cases.ts";
import { IS_WHOLE } from "../kit/modes.ts";
import { sampled } from "../kit/thorough.ts";

const judge = new AnswerJudge();

/** A request for each of an endpoint's own errors, and for those that it shares with others: of these a short run draws one. */
function casesOf(
  operationId: string,
  codes: readonly ErrorCode[],
): readonly (readonly [code: ErrorCode, refused: ErrorCase])[] {
  const own: [ErrorCode, ErrorCase][] = [];
  const shared: [ErrorCode, ErrorCase][] = [];
  for (const code of codes) {
    const name = `${operationId} ${code}`;
    const mine = CASES_OF_ONE[name];
    const refused = mine ?? (BROUGHT.has(name) ? undefined : CASES_OF_ANY[code]);
    // A module that is gone has taken the requests for its errors along.
    if (refused === undefined && !IS_WHOLE) continue;
    if (refused === undefined) throw new Error(`${code}: no request produces it`);
    (mine === undefined ? shared : own).push([code, refused]);
  }
  return [...own, ...sampled(shared, `errors of ${operationId}`)];
}

test.for(ENDPOINTS)(
  "$operationId answers each of its errors, as they are described",
  async (endpoint, { world }) => {
    const wrong: string[] = [];
    let tenant = await world.tenant();
    for (const [code, refused] of casesOf(endpoint.operationId, errorsOf(endpoint))) {
      const answer = await refused({ world, tenant, endpoint });
      if (!HARMLESS.has(code)) tenant = await world.tenant();
      const told = codeOf(answer.text);
      if (told !== code || answer.status !== ERRORS[code].status) {
        wrong.push(`${code}: ${answer.status} ${answer.text.slice(0, 500)}`);
        continue;
      }
      wrong.push(...judge.problemsOf(answer).map((problem) => `${code}: ${problem}`));
    }
    expect(wrong).toEqual([]);
  },
);

// modules: webhooks
test("every code of the table is declared by an endpoint, or told where there is none", () => {
  const declared = new Set(ENDPOINTS.flatMap((endpoint) => errorsOf(endpoint)));
  const codes = Object.keys(ERRORS) as readonly ErrorCode[];
  expect(codes.filter((code) => !declared.has(code))).toEqual(["METHOD_NOT_ALLOWED"]);
});

test("no request stands here for an error that its endpoint does not declare", () => {
  const declared = new Set(
    ENDPOINTS.flatMap((endpoint) => errorsOf(endpoint).map((code) => `${endpoint.operationId} ${code}`)),
  );
  expect(Object.keys(CASES_OF_ONE).filter((name) => !declared.has(name))).toEqual([]);
});
