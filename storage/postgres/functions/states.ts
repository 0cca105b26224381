/** SQLSTATE codes with which the database functions report the fate of a group. */

/** Refuses a commit: the error takes back the changes of the commit. */
export const REFUSED = "PS001";

/** Refuses a group that its writer has given up meanwhile. */
export const GIVEN_UP = "PS002";

/** Refuses the end of a handler's transaction that is not the one which was begun for it. */
export const ENDED = "PS004";

/** Refuses a process that knows a different server, or a different timeline of this server. */
export const OTHER_SERVER = "PS003";
