/** How much a run of the tests explores: `npm test` a sample, `npm run test:long` all of it. */

/** Whether everything is explored. */
export const THOROUGH = process.env["MODE"] === "long";

/** After so long a test that explores many lives is thought to hang, in milliseconds. */
export const EXPLORING_MS = THOROUGH ? 4 * 3_600_000 : 600_000;
