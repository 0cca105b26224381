/** A provider of swaps out of the operator's own inventory, which its host names in the options. */
import type { WayModule } from "../../frame/way-module.ts";

export const desk: WayModule<never> = { name: "swap/desk", needs: ["swap"] };
