/** The rules of the marker protocol, one switch each, so that a test can show the attack that each of them stops. */

/** True where the rule is kept. */
export interface Rules {
  /** A payment makes the marker of its own words in the same transaction. */
  readonly leavesMark: boolean;
  /** Only the deposit key can change what a marker says. */
  readonly markersAreOurs: boolean;
  /** Unmade words are signed again as they are: other words for the same payees need a replacement. */
  readonly onlyTheSameWordsAgain: boolean;
  /** The address of a plan marker depends on everything the plan pays. */
  readonly plansNameTheirLeaves: boolean;
  /** No leaf of a plan has the words that the plan replaces: their marker is made, so the leaf could never land. */
  readonly plansChangeTheWords: boolean;
  /** A plan marker is made by its replacement alone, and a plan that was made is never replaced. */
  readonly plansAreFinal: boolean;
  /** The markers of words keep their delegate. */
  readonly wordsAreNeverRevoked: boolean;
  /** The one leaf of an inline replacement is never signed as a transaction of its own. */
  readonly inlineLeavesStayInline: boolean;
  /** A payment that belongs to a plan fails unless that plan was made. */
  readonly leavesFollow: boolean;
  /** A replacement of words that belong to a plan fails unless that plan was made. */
  readonly replacementsFollow: boolean;
  /** An order of several chunks begins by replacing the order's own words by the routing plan. */
  readonly routingReplacesTheRoot: boolean;
  /** A refund replaces the words of the payout: it has no marker of its own. */
  readonly refundsReplace: boolean;
  /** The chunks follow from the stored order alone, so that every copy of the database splits alike. */
  readonly chunksFollowFromTheOrder: boolean;
  /** A payee who cannot be paid is left out by its index. The opposite: the chunk is cut into halves. */
  readonly failuresAreIsolated: boolean;
  /** The words of a swap carry no amounts. */
  readonly swapsNameNoAmount: boolean;
  /** The plan of a refund carries no amount: other copies of the database reckon its costs otherwise. */
  readonly refundsNameNoAmount: boolean;
  /** The words of a refund of excess carry no amount. */
  readonly excessNamesNoAmount: boolean;
  /** The words of a refund of excess carry no recipient: the operator may send it to another address. */
  readonly excessNamesNoRecipient: boolean;
  /** Excess n + 1 is signed only after excess n was read as made. */
  readonly excessInTurn: boolean;
  /** Excess is refunded only after every leaf is decided. */
  readonly excessAfterEveryLeaf: boolean;
  /** Excess is judged by finalized readings. */
  readonly excessFromFinalized: boolean;
  /** The balance and the markers that excess is judged by are of the same block. */
  readonly excessFromOneReading: boolean;
  /** Markers are closed only after nothing signed before can land any more. */
  readonly closingWaits: boolean;
  /** The transaction that takes the fee closes the order's own marker, and so lands once. */
  readonly feeWithTheRoot: boolean;
  /** All plan markers are closed before any other, the order's own marker is closed last. */
  readonly plansCloseFirst: boolean;
  /** A restored copy of the database signs nothing for an address whose history shows that markers were closed. */
  readonly historyBeforeSigning: boolean;
}

/** The protocol as it is used. */
export const PROTOCOL: Rules = {
  leavesMark: true,
  markersAreOurs: true,
  onlyTheSameWordsAgain: true,
  plansNameTheirLeaves: true,
  plansChangeTheWords: true,
  plansAreFinal: true,
  wordsAreNeverRevoked: true,
  inlineLeavesStayInline: true,
  leavesFollow: true,
  replacementsFollow: true,
  routingReplacesTheRoot: true,
  refundsReplace: true,
  chunksFollowFromTheOrder: true,
  failuresAreIsolated: true,
  swapsNameNoAmount: true,
  refundsNameNoAmount: true,
  excessNamesNoAmount: true,
  excessNamesNoRecipient: true,
  excessInTurn: true,
  excessAfterEveryLeaf: true,
  excessFromFinalized: true,
  excessFromOneReading: true,
  closingWaits: true,
  feeWithTheRoot: true,
  plansCloseFirst: true,
  historyBeforeSigning: true,
};

/** The protocol without these rules. */
export function without(...rules: readonly (keyof Rules)[]): Rules {
  return { ...PROTOCOL, ...Object.fromEntries(rules.map((rule) => [rule, false])) };
}
