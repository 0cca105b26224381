/** Worlds that a test opens with options of its own: each is closed when the test ends, failed or not. */
import type { TestContext } from "vitest";

/** What has to be closed. */
interface Closable {
  close(): Promise<unknown>;
}

/** Makes what `make` makes, and closes it when the test ends: what was opened last is closed first. */
export function opener<Options extends readonly unknown[], World extends Closable>(
  make: (...options: Options) => Promise<World>,
  onTestFinished: TestContext["onTestFinished"],
): (...options: Options) => Promise<World> {
  return async (...options) => {
    const world = await make(...options);
    onTestFinished(async () => {
      await world.close();
    });
    return world;
  };
}
