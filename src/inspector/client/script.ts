/** The script for the browser, put together from its parts. Pages are complete without it. */
import { COUNTING } from "./counting.ts";
import { FOLLOWING } from "./following.ts";
import { HANDLING } from "./handling.ts";
import { MORPHING } from "./morphing.ts";

/** Served as a file of its own: the pages allow no other script. */
export const SCRIPT = `"use strict";
(() => {
${COUNTING}
${MORPHING}
${FOLLOWING}
${HANDLING}
})();
`;
