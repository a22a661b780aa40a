/** Reads a question with each of some texts and tells how well they answer it. */
export interface Reranker {
  /** A number for each text, in their order; more is better. Throws `ModelError` when it cannot. */
  score: (question: string, texts: readonly string[], signal: AbortSignal) => Promise<number[]>
}
