/** The timeline tells how often an effect that has ended was tried, and what it had said. */
import { expect, test } from "vitest";
import { createInspector } from "../../src/index.ts";
import { withParcels } from "./parcel.ts";

test("an effect that ended at its third attempt is told with its last error beside the step that asked for it", async () => {
  let tries = 0;
  const label = async (): Promise<undefined> => {
    tries += 1;
    if (tries < 3) throw new Error("the printer is out of paper");
    return undefined;
  };
  await withParcels(
    async ({ engine, workflow, clock }) => {
      engine.run();
      await engine.start(workflow, { id: "p1", input: { note: "x" } });
      for (let second = 0; second < 5; second++) {
        await engine.settled();
        clock.advance(1_000);
      }
      const { fetch } = createInspector({ engine, clock });
      const page = await (await fetch(new Request("http://127.0.0.1/_inspector/instance?id=p1"))).text();
      const text = page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
      expect(text).toContain(
        "effect label ended at attempt 3, it had failed with “the printer is out of paper”",
      );
      expect(text).toContain("Nothing is pending.");
    },
    { label },
  );
});
