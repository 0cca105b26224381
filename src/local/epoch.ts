/** The length of an epoch. A local chain does not need epochs, but clients ask for them. */

/** Mainnet's length of an epoch. The schedule has no warm-up, so that epoch n begins at slot n × this. */
export const SLOTS_PER_EPOCH = 432_000;
