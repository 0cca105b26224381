/** Who acts in tests where it does not matter who. */
import type { ActedBy } from "../../src/payments/acted-by.ts";

export const BY: ActedBy = { actor: "ann", reason: "drill" };
