/** Turns texts into vectors that are near each other when the texts mean about the same. */
export interface Embedder {
  /** Names the vectors: those of two models are never compared. */
  model: string
  /** One vector of unit length for each text, in their order. Throws `ModelError` when it cannot. */
  embed: (texts: readonly string[], signal: AbortSignal) => Promise<Float32Array[]>
}

/** A model that did not answer, or answered something else than it was asked. */
export class ModelError extends Error {
  override name = 'ModelError'
}

/** The vector at length 1; one of zeros stays as it is. */
export function normalised(values: ArrayLike<number>): Float32Array {
  const vector = Float32Array.from(values)
  const length = Math.hypot(...vector)
  return length > 0 ? vector.map((value) => value / length) : vector
}
