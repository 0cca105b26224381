/** The timeline tells how often an effect that has ended was tried, and what it had said. */
import { expect } from "vitest";
import { createInspector } from "../../src/index.ts";
import { parcelTest as test } from "./parcel-test.ts";
import { viewerOf } from "./viewer.ts";

test("an effect that ended at its third attempt is told with its last error beside the step that asked for it", async ({
  open,
}) => {
  let tries = 0;
  const label = async (): Promise<undefined> => {
    tries += 1;
    if (tries < 3) throw new Error("the printer is out of paper");
    return undefined;
  };
  const { engine, workflow, clock } = await open({ label });
  engine.run();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  for (let second = 0; second < 5; second++) {
    await engine.settled();
    clock.advance(1_000);
  }
  const text = await viewerOf(createInspector({ engine, clock })).text("/instance?id=p1");
  expect(text).toContain("effect label ended at attempt 3, it had failed with “the printer is out of paper”");
  expect(text).toContain("Nothing is pending.");
});
