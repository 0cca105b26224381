/** For each rule of the protocol, the attack that is possible without it. */
import type { Scenario } from "./model.ts";
import type { Promised } from "./promises.ts";
import { type Rules, without } from "./rules.ts";
import {
  CLOSING,
  EXCESS,
  EXCESS_AND_FORKS,
  SWAP,
  ONE_CHUNK,
  RESTORED,
  TWO_CHUNKS,
  TWO_COPIES,
  TWO_COSTS,
  TWO_WAYS,
} from "./scenarios.ts";

/** What happens where rules are left out. */
export interface Attack {
  readonly name: string;
  readonly without: readonly (keyof Rules)[];
  readonly in: Scenario;
  readonly breaks: Promised;
  /** The shortest way. */
  readonly acts: readonly string[];
}

/** The scenario of an attack, without its rules. */
export function attacked(attack: Attack): Scenario {
  return { ...attack.in, rules: without(...attack.without) };
}

/** One attack for each rule, and those that need two rules to be left out. */
export const ATTACKS: readonly Attack[] = [
  {
    name: "a payment without a marker is signed again",
    without: ["leavesMark"],
    in: ONE_CHUNK,
    breaks: "no payee is paid twice",
    acts: ["deposit 20", "pay order", "pay order"],
  },
  {
    name: "a stranger makes our marker look foreign, and the payees are paid in other words",
    without: ["markersAreOurs"],
    in: ONE_CHUNK,
    breaks: "no payee is paid twice",
    acts: ["deposit 20", "pay order", "a stranger changes order", "pay order in other words"],
  },
  {
    name: "a payment that seems lost is planned in other words, and was not lost",
    without: ["onlyTheSameWordsAgain"],
    in: ONE_CHUNK,
    breaks: "no payee is paid twice",
    acts: ["deposit 20", "pay order", "pay order in other words"],
  },
  {
    name: "one replacement lets the leaves of another plan land",
    without: ["plansNameTheirLeaves"],
    in: ONE_CHUNK,
    breaks: "no amount is both paid and refunded",
    acts: ["deposit 20", "refund order", "pay payout 1+2"],
  },
  {
    name: "two copies of the database let rival successors land",
    without: ["plansNameTheirLeaves", "chunksFollowFromTheOrder"],
    in: TWO_COPIES,
    breaks: "no payee is paid twice",
    acts: ["deposit 20", "refund order", "pay payout 0+1", "pay payout 0"],
  },
  {
    name: "a chunk is replaced by its own words, and its payees can be neither paid nor refunded any more",
    without: ["plansChangeTheWords"],
    in: ONE_CHUNK,
    breaks: "no order is stuck",
    acts: ["replace order by order"],
  },
  {
    name: "a plan is made void by its marker, which is what its leaves wait for",
    without: ["plansAreFinal"],
    in: TWO_CHUNKS,
    breaks: "no payee is paid twice",
    acts: [
      "deposit 20",
      "replace order by payout 0+1 | payout 2",
      "pay payout 0+1",
      "void (payout 0+1 => payout 1)",
      "pay payout 1",
    ],
  },
  {
    name: "a replaced payment reads as paid",
    without: ["wordsAreNeverRevoked"],
    in: ONE_CHUNK,
    breaks: "the markers tell the truth",
    acts: ["replace order by payout 1+2", "revoke order"],
  },
  {
    name: "an inline refund is paid apart as well",
    without: ["inlineLeavesStayInline"],
    in: ONE_CHUNK,
    breaks: "no amount is refunded twice",
    acts: ["deposit 20", "refund order", "refund order apart"],
  },
  {
    name: "a chunk is paid beside the refund of the whole order",
    without: ["leavesFollow"],
    in: TWO_CHUNKS,
    breaks: "no amount is both paid and refunded",
    acts: ["deposit 20", "refund order", "pay payout 0+1"],
  },
  {
    name: "a chunk is refunded beside the refund of the whole order",
    without: ["replacementsFollow"],
    in: TWO_CHUNKS,
    breaks: "no amount is refunded twice",
    acts: ["deposit 20", "refund order", "refund payout 0+1"],
  },
  {
    name: "nothing ties the chunks to the refund of the whole order",
    without: ["routingReplacesTheRoot"],
    in: TWO_CHUNKS,
    breaks: "no amount is both paid and refunded",
    acts: ["deposit 20", "refund order", "pay payout 0+1"],
  },
  {
    name: "payout and refund of one order stand under different markers",
    without: ["refundsReplace"],
    in: TWO_CHUNKS,
    breaks: "no amount is both paid and refunded",
    acts: ["deposit 20", "refund order", "replace order by payout 0+1 | payout 2", "pay payout 0+1"],
  },
  {
    name: "a copy that splits otherwise cannot tell what became of the order",
    without: ["chunksFollowFromTheOrder"],
    in: TWO_COPIES,
    breaks: "every copy understands the markers",
    acts: ["replace order by payout 0+1 | payout 2"],
  },
  {
    name: "two copies split differently and pay both splits",
    without: ["chunksFollowFromTheOrder", "routingReplacesTheRoot"],
    in: TWO_COPIES,
    breaks: "no payee is paid twice",
    acts: ["deposit 20", "pay payout 0+1", "pay payout 0"],
  },
  {
    name: "a copy that isolates cannot read the plan of one that halves",
    without: ["failuresAreIsolated"],
    in: TWO_WAYS,
    breaks: "every copy understands the markers",
    acts: ["replace order by payout 1+2"],
  },
  {
    name: "one copy halves a chunk, the other isolates the payee, and both are paid",
    without: ["failuresAreIsolated", "plansNameTheirLeaves"],
    in: TWO_WAYS,
    breaks: "no payee is paid twice",
    acts: ["deposit 20", "refund order", "pay payout 1+2", "pay payout 0+2"],
  },
  {
    name: "a swap that is priced again is made at both prices",
    without: ["swapsNameNoAmount"],
    in: SWAP,
    breaks: "no payee is paid twice",
    acts: ["deposit 20", "swap at 2", "swap at 3"],
  },
  {
    name: "a copy that reckons other costs cannot tell that the order was refunded",
    without: ["refundsNameNoAmount"],
    in: TWO_COSTS,
    breaks: "every copy understands the markers",
    acts: ["deposit 20", "refund order"],
  },
  {
    name: "more money comes between two refunds of one excess, and both land",
    without: ["excessNamesNoAmount"],
    in: EXCESS,
    breaks: "excess takes no money that is owed",
    acts: [
      "deposit 4",
      "pay order",
      "sign: refund 1 to the sender as excess 0",
      "deposit 1",
      "sign: refund 2 to the sender as excess 0",
      "refund 1 to the sender as excess 0",
      "refund 2 to the sender as excess 0",
    ],
  },
  {
    name: "the operator sends a refund elsewhere while the first can still land",
    without: ["excessNamesNoRecipient"],
    in: EXCESS,
    breaks: "excess takes no money that is owed",
    acts: [
      "deposit 4",
      "pay order",
      "sign: refund 1 to the sender as excess 0",
      "sign: refund 1 to another address as excess 0",
      "refund 1 to the sender as excess 0",
      "refund 1 to another address as excess 0",
    ],
  },
  {
    name: "one excess is refunded under two ordinals",
    without: ["excessInTurn"],
    in: EXCESS,
    breaks: "excess takes no money that is owed",
    acts: [
      "deposit 4",
      "pay order",
      "sign: refund 1 to the sender as excess 0",
      "sign: refund 1 to the sender as excess 1",
      "refund 1 to the sender as excess 0",
      "refund 1 to the sender as excess 1",
    ],
  },
  {
    name: "excess is refunded while a leaf is open, and takes its money",
    without: ["excessAfterEveryLeaf"],
    in: EXCESS,
    breaks: "excess takes no money that is owed",
    acts: [
      "deposit 4",
      "replace order by payout 1",
      "sign: refund 3 to the sender as excess 0",
      "refund 3 to the sender as excess 0",
    ],
  },
  {
    name: "a fork brings back the payees whose money was refunded as excess",
    without: ["excessFromFinalized"],
    in: EXCESS_AND_FORKS,
    breaks: "excess takes no money that is owed",
    acts: [
      "deposit 4",
      "refund order",
      "sign: refund 2 to the sender as excess 0",
      "fork",
      "deposit 4",
      "refund 2 to the sender as excess 0",
    ],
  },
  {
    name: "the markers are read after the payout and the balance before it",
    without: ["excessFromOneReading"],
    in: EXCESS,
    breaks: "excess takes no money that is owed",
    acts: [
      "deposit 4",
      "pay order",
      "sign: refund 3 to the sender as excess 0",
      "deposit 1",
      "refund 3 to the sender as excess 0",
    ],
  },
  {
    name: "markers are closed while old bytes can land",
    without: ["closingWaits"],
    in: CLOSING,
    breaks: "no payee is paid twice",
    acts: [
      "deposit 4",
      "replace order by payout 0 | payout 1",
      "pay payout 0",
      "pay payout 1",
      "close (order => payout 0 | payout 1)",
      "close payout 0",
      "close payout 1",
      "close order",
      "replace order by payout 0 | payout 1",
      "pay payout 0",
    ],
  },
  {
    name: "two attempts to take the fee both land",
    without: ["feeWithTheRoot"],
    in: CLOSING,
    breaks: "the fee is taken once",
    acts: [
      "deposit 4",
      "refund order",
      "retire",
      "close (order => refund)",
      "close order",
      "take the fee",
      "take the fee",
    ],
  },
  {
    name: "a restored copy pays a chunk again in the middle of the sweep",
    without: ["plansCloseFirst", "historyBeforeSigning"],
    in: RESTORED,
    breaks: "the order's marker guards the others while they are closed",
    acts: [
      "deposit 4",
      "replace order by payout 0 | payout 1",
      "pay payout 0",
      "pay payout 1",
      "retire",
      "close payout 0",
      "restore",
      "pay payout 0",
    ],
  },
  {
    name: "a restored copy pays again after the sweep",
    without: ["historyBeforeSigning"],
    in: RESTORED,
    breaks: "no payee is paid twice",
    acts: [
      "deposit 4",
      "replace order by payout 0 | payout 1",
      "pay payout 0",
      "pay payout 1",
      "retire",
      "close (order => payout 0 | payout 1)",
      "close payout 0",
      "close payout 1",
      "close order",
      "restore",
      "replace order by payout 0 | payout 1",
      "pay payout 0",
    ],
  },
];
