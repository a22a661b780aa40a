import type { MemoryOptions } from '#client/memory.ts'
import type { MemoryProvider } from '#context/recall.ts'
import type { Config } from './config.ts'

/** Memory as the control plane asks it. */
export function providerOf(config: Config, memory: MemoryOptions): MemoryProvider {
  return {
    ...memory,
    namespacePrefix: config.CP_CONTEXT_NAMESPACE_PREFIX,
    timeoutSeconds: config.CP_CONTEXT_TIMEOUT_SECONDS,
    reconcileTimeoutSeconds: config.CP_CONTEXT_RECONCILE_TIMEOUT_SECONDS,
    budget: {
      limitTokens: config.CP_CONTEXT_MAX_TOKENS_LIMIT,
      defaultTokens: config.CP_CONTEXT_DEFAULT_MAX_TOKENS,
    },
  }
}
