/** The states by which the functions of the database tell what became of a group. */

/** Refusals of items travel as an error of this state, which takes back what the item did so far. */
export const REFUSED = "PS001";

/** The state of the error that ends a group which its writer has given up meanwhile. */
export const GIVEN_UP = "PS002";

/** The state of the error that refuses a process which knows another server, or another timeline of this one. */
export const OTHER_SERVER = "PS003";
