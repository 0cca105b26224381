/** Looks at an order that are asked for while another one is under way. */
// modules: private
import { EventEmitter, once } from "node:events";
import { expect, it } from "vitest";
import { FailedLooks, LooksInTurn } from "../../../src/payments/private/looks-in-turn.ts";

/** A look that ends when it is told to. */
function look(name: string, begun: string[]) {
  const ends = new EventEmitter();
  const take = async (): Promise<string> => {
    begun.push(name);
    await once(ends, "end");
    return name;
  };
  return { take, end: () => ends.emit("end"), fail: () => ends.emit("error", new Error(name)) };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("K17: of looks that wait for another one the newest alone is taken, once that one has ended", async () => {
  const [turns, begun]: [LooksInTurn, string[]] = [new LooksInTurn(), []];
  const [first, second, third] = [look("first", begun), look("second", begun), look("third", begun)];
  const one = turns.take("tx_1", first.take);
  await turn();
  const two = turns.take("tx_1", second.take);
  const three = turns.take("tx_1", third.take);
  await turn();
  expect(begun).toEqual(["first"]);
  first.end();
  expect([await one, await two]).toEqual(["first", undefined]);
  await turn();
  expect(begun).toEqual(["first", "third"]);
  third.end();
  expect(await three).toBe("third");
});

it("a look that fails holds up no other one, and looks at other orders wait for none", async () => {
  const [turns, begun]: [LooksInTurn, string[]] = [new LooksInTurn(), []];
  const [failing, next, other] = [look("failing", begun), look("next", begun), look("other", begun)];
  const failed = turns.take("tx_1", failing.take).catch((error: unknown) => error);
  await turn();
  const taken = turns.take("tx_1", next.take);
  const elsewhere = turns.take("tx_2", other.take);
  await turn();
  other.end();
  expect(await elsewhere).toBe("other");
  failing.fail();
  expect(await failed).toEqual(new Error("failing"));
  await turn();
  next.end();
  expect(await taken).toBe("next");
  expect(begun).toEqual(["failing", "other", "next"]);
});

it("K17: a look that has failed ends once its order has made a step, which asks for a look of its own", async () => {
  const failed = new FailedLooks();
  const begun: string[] = [];
  const fails = async (): Promise<string> => {
    begun.push("failing");
    throw new Error("endpoints differ");
  };
  const first = { key: "first", version: 1 };
  await expect(failed.take(first, fails)).rejects.toThrow("endpoints differ");
  await expect(failed.take(first, fails)).rejects.toThrow("endpoints differ");
  await expect(failed.take({ key: "second", version: 2 }, fails)).rejects.toThrow("endpoints differ");
  expect(begun).toHaveLength(3);
  expect(await failed.take({ key: "first", version: 2 }, fails)).toBeUndefined();
  expect(begun).toHaveLength(3);
  expect(await failed.take({ key: "second", version: 2 }, async () => "told")).toBe("told");
});

it("a look is tried whatever the version of its order is, as long as it has not failed in this process", async () => {
  const failed = new FailedLooks();
  expect(await failed.take({ key: "look", version: 1 }, async () => "told")).toBe("told");
  expect(await failed.take({ key: "look", version: 2 }, async () => "told again")).toBe("told again");
});
