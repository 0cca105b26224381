/**
 * Keeps typedoc's question for docstrings to what is exported: a member whose name says everything (`close()`), or that
 * lies in an inferred type (a chart's states), needs none. Its types are checked like all others.
 */
import { Comment, Converter, ReflectionKind } from "typedoc";

const OWNERS = ReflectionKind.Interface | ReflectionKind.Class | ReflectionKind.TypeLiteral;

export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const owner of project.getReflectionsByKind(OWNERS)) {
      for (const member of owner.children ?? []) {
        for (const asked of [member, ...(member.signatures ?? [])]) {
          asked.comment ??= new Comment([{ kind: "text", text: member.name }]);
        }
      }
    }
  });
}
