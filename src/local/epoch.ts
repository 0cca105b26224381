/** Epochs, which matter to nobody on a local chain but are asked for. */

/** Mainnet's length of an epoch. The schedule has no warm-up, so that epoch n begins at slot n × this. */
export const SLOTS_PER_EPOCH = 432_000;
