/** Who acts in tests where it does not matter who. */
import type { ActContext } from "../../src/payments/frame/intake/rules.ts";

export const BY: ActContext = { actor: "ann", reason: "drill" };
