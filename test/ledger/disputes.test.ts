/** How long a disagreement of endpoints is remembered. */
import { expect, test } from "vitest";
import { DisputeList } from "../../src/ledger/disputes.ts";
import { virtualClock } from "../kit/virtual-clock.ts";

const TEN_MINUTES = 10 * 60_000;
const RENT = "the rent of an account";

test("a dispute about what nobody asks for any more stands for ten minutes after it was last seen, and is forgotten then", () => {
  const clock = virtualClock(0);
  const disputes = new DisputeList(clock);
  disputes.note(RENT, ["one", "two"]);
  clock.advance(60_000);
  disputes.note(RENT, ["one", "two"]);
  clock.advance(TEN_MINUTES - 1);
  expect(disputes.standing()).toEqual([{ subject: RENT, endpoints: ["one", "two"], since: 0 }]);
  clock.advance(1);
  expect(disputes.standing()).toEqual([]);
});

test("a dispute seen by a clock that was ten minutes ahead is forgotten, and does not stand until that time comes", () => {
  const clock = virtualClock(0);
  const disputes = new DisputeList(clock);
  disputes.note(RENT);
  clock.put(-TEN_MINUTES);
  expect(disputes.standing()).toEqual([]);
});

test("a dispute ends at once when enough endpoints agree, and the other disputes stand", () => {
  const disputes = new DisputeList(virtualClock(0));
  disputes.note(RENT);
  disputes.note("a lookup table");
  disputes.end(RENT);
  expect(disputes.standing()).toMatchObject([{ subject: "a lookup table" }]);
});
