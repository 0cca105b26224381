/** The drawing of the rooms is of the code as it is. */
import { expect, test } from "vitest";
import { drawnRooms, roomsOnPage } from "./rooms.ts";

test("the arrows between the rooms are who imports whom", () => {
  expect(roomsOnPage(), "run `npm run rooms`").toBe(drawnRooms());
});
