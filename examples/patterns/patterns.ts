/** The patterns by name, in the order of their page. */
import * as approval from "./approval.ts";
import * as batch from "./batch.ts";
import * as debounce from "./debounce.ts";
import * as fanOut from "./fan-out.ts";
import * as ladder from "./ladder.ts";
import * as poll from "./poll.ts";
import * as saga from "./saga.ts";

export const patterns = { saga, approval, ladder, batch, debounce, poll, "fan-out": fanOut };
