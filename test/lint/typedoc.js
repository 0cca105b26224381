/**
 * Keeps typedoc's question to what is exported. A member whose name says everything (`close()`), or that lies in an
 * inferred type (a chart's states), needs no docstring.
 */
import { Converter, ReflectionKind } from "typedoc";

const OWNERS = ReflectionKind.Interface | ReflectionKind.Class | ReflectionKind.TypeLiteral;

export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const owner of project.getReflectionsByKind(OWNERS)) {
      for (const member of [...(owner.children ?? [])]) {
        if (!member.hasComment()) project.removeReflection(member);
      }
    }
  });
}
