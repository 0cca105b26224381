/** A provider of swaps by a market, which its host names in the options. */
import type { WayModule } from "../../frame/way-module.ts";

export const jupiter: WayModule<never> = { name: "swap/jupiter", needs: ["swap"] };
