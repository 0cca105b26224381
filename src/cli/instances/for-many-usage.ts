/** The paragraph of `paystate --help` on commands for many instances. */
// modules: jobs
export const FOR_MANY_USAGE = `paystate send|stop|retry --where FIELD=VALUE … [--workflow NAME] [--state STATE] [EVENT]
    The same for many at once, by a durable job, which any process goes on with: all instances with these search fields.
`;
