/** Spans, kept with all that they are told. */
import * as Tracer from "effect/Tracer"

/** A tracer that does what another does, and keeps each span. */
export const keeping = (native: Tracer.Tracer) => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (...given) => {
      const span = native.span(...given)
      spans.push(span)
      return span
    },
    context: (run, fiber) => native.context(run, fiber)
  })
  return { tracer, spans }
}
