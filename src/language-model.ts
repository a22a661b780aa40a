import { echoChat, httpChat } from '#model/chat.ts'
import type { Complete } from '#model/chat.ts'
import type { Config } from './config.ts'

/** The model that puts answers into words; undefined where none is configured. */
function languageModel(config: Config): Complete | undefined {
  const { CB_LLM_PROVIDER: provider, CB_LLM_URL: url, CB_LLM_MODEL: model } = config
  if (provider === 'echo') return echoChat()
  if (provider !== 'http' || url === undefined || model === undefined) return undefined
  const timeoutSeconds = config.CB_LLM_TIMEOUT_SECONDS
  return httpChat({ url, model, apiKey: config.CB_LLM_API_KEY, timeoutSeconds })
}

/** What memory needs to put answers into words. */
export function wordsSettings(config: Config) {
  return { llm: languageModel(config), synthesizesByDefault: config.CB_QUERY_SYNTHESIZE_DEFAULT }
}
