export const IN_TRACE = 'IN_TRACE'
export const TRACE_KIND = 'pc_trace'
const ANCHOR = 'pc-trace:'

/** The key of the node that stands for a trace. */
export function anchorKey(trace: string): string {
  return `${ANCHOR}${trace}`
}

/** Nodes and events of the trail: nobody writes over them and nobody removes them. */
export function isOfTrail(key: string): boolean {
  return key.startsWith(ANCHOR) || /^audit:[0-9a-f]{24}$/.test(key)
}
