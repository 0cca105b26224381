/** Requests that were valid until they were bent at random: each gets an answer that the document describes. */
import fc from "fast-check";
import { expect } from "vitest";
import { repeatWith, seedOfRun } from "../kit/seed.ts";
import { byDepth, EXPLORING_MS, QUICK } from "../kit/thorough.ts";
import { AnswerJudge, codeOf } from "./answer-judge.ts";
import { contractTest as test } from "./contract-test.ts";
import { longestBlock } from "./longest-block.ts";
import { CASES, mutation, validRequest, type RawRequest } from "./mutations.ts";

const REQUESTS = byDepth({ quick: 150, ci: 2_000, long: 50_000 });
// Soon its quotes are used and its webhook is deleted, and later its limits would be used up.
const REQUESTS_OF_A_TENANT = 50;
const MAX_BLOCK_MS = 20;
// A busy machine can only make a pause longer than the work in it.
const MAX_TRIES = 8;

const drawn = fc.record({
  which: fc.constantFrom(...CASES),
  mutations: fc.array(mutation, { maxLength: 3 }),
  isOverSocket: fc.nat({ max: 4 }).map((n) => n === 0),
});

test(
  "H21: whatever is bent, the answer is described, valid, harmless and no failure of ours",
  { timeout: EXPLORING_MS },
  async ({ world }) => {
    const judge = new AnswerJudge();
    const seed = seedOfRun();
    const codes = new Map<string, number>();
    let slowest: readonly { request: RawRequest; ms: number }[] = [];
    const found: string[] = [];
    let tenant = await world.tenant();
    let count = 0;
    for (const { which, mutations, isOverSocket } of fc.sample(drawn, { numRuns: REQUESTS, seed })) {
      if (++count % REQUESTS_OF_A_TENANT === 0) tenant = await world.tenant();
      const valid = validRequest(which, tenant.belongings, tenant.authorization);
      const request = mutations.reduce((draft, change) => change(draft), valid);
      const used = process.cpuUsage();
      const answer = await (isOverSocket ? world.askSocket(request) : world.ask(request));
      const { user, system } = process.cpuUsage(used);
      const spent = { request, ms: (user + system) / 1_000 };
      slowest = [...slowest, spent].toSorted((one, other) => other.ms - one.ms).slice(0, 5);
      if (answer === null) continue;
      for (const problem of judge.problemsWhenWell(answer)) {
        found.push(`${problem}: ${answer.status} to ${JSON.stringify(request).slice(0, 2_000)}`);
      }
      const word = answer.status < 400 ? String(answer.status) : codeOf(answer.text);
      codes.set(word, (codes.get(word) ?? 0) + 1);
    }
    await world.settled();
    expect(found.slice(0, 20), repeatWith(seed)).toEqual([]);
    expect(Object.prototype).not.toHaveProperty("polluted");
    for (const { request } of slowest) {
      const blocks: number[] = [];
      do blocks.push(await longestBlock(() => world.ask(request)));
      while (blocks.length < MAX_TRIES && Math.min(...blocks) > MAX_BLOCK_MS);
      expect(Math.min(...blocks), JSON.stringify(request).slice(0, 500)).toBeLessThanOrEqual(MAX_BLOCK_MS);
    }
    // The requests reach what they aim at: some succeed, some are refused at each stage.
    const reached = ["200", "201", "VALIDATION_ERROR", "NOT_FOUND"];
    // Few changes meet the key.
    for (const code of QUICK ? reached : [...reached, "INVALID_API_KEY"]) {
      expect(codes.get(code) ?? 0, `${code} of ${JSON.stringify([...codes])}`).toBeGreaterThan(0);
    }
  },
);
