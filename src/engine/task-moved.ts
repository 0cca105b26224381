/** A task in hand belongs to another version of its chart by now: it is given back as if it had never been taken. */
export class TaskMoved extends Error {
  override readonly name = "TaskMoved";
}
