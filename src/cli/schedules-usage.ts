/** The paragraph of `paystate --help` on schedules. */
// modules: schedules
export const SCHEDULES_USAGE = `paystate schedules [list]
paystate schedules pause|resume|remove|trigger ID
    Lists what is started by time; starts nothing of one by time, or does again; removes one until its definition has a
    higher version; starts a run of one now.
`;
