/** Names of those who act: no two of them look the same and are taken for two people. */
// modules: private
import { describe, expect, test } from "vitest";
import { readActContext, OperatorRefused } from "../../src/payments/frame/acts/act.ts";
import { isSamePerson } from "../../src/payments/frame/shown-words.ts";
import { sceneTest } from "./private/scene-test.ts";

describe("who acts", () => {
  test.for(["ann\u0430", "Ann\u0430 B", "\u039fscar", "ann\u0561"])(
    "M36: %s mixes alphabets whose letters look alike, and is refused",
    (actor) => {
      expect(() => readActContext({ actor, reason: "drill" })).toThrow("alphabets that look alike");
    },
  );

  test.for(["Анна", "Ὀδυσσεύς", "田中 Tanaka", "Åsa O'Neil-2", "ann@example.com"])(
    "M36: %s is a name of one such alphabet, and may act",
    (actor) => {
      expect(readActContext({ actor, reason: "как Ann sagte" }).actor).toBe(actor);
    },
  );
});

test.for(["A nn", "ann", " A N N ", "A\u00a0nn", "\uff21nn"])(
  "M36: %j is the person that is called Ann",
  (name) => {
    expect(isSamePerson("Ann", name)).toBe(true);
  },
);

test.for(["Anna", "\u00c1nn", "Ann."])("M36: %j is another person than Ann", (name) => {
  expect(isSamePerson("Ann", name)).toBe(false);
});

sceneTest("what is no id of a matter is refused by name", async ({ world }) => {
  const { operator } = world.service;
  for (const id of [undefined, null, 5] as unknown as readonly string[]) {
    const by = { actor: "ann", reason: "drill" };
    await expect(operator.resolve(id, { action: "release" }, by)).rejects.toThrow(OperatorRefused);
    await expect(operator.approve(id, { address: "a" }, by)).rejects.toThrow("expected the id of a matter");
  }
});
