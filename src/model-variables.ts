import { z } from 'zod'
import { count, flag, httpUrl, secret, seconds } from './config-kinds.ts'

const modelName = z.string().min(1).max(200)

/** Models that memory may use; it needs none. */
export const MODEL_VARIABLES = {
  CB_EMBEDDING_PROVIDER: z
    .enum(['none', 'http', 'fake'])
    .default('none')
    .describe(
      'Where memory gets embeddings: http: a server with the API of OpenAI; fake: for tests',
    ),
  CB_EMBEDDING_URL: httpUrl
    .default('http://127.0.0.1:11434/v1')
    .describe('Base address of the embeddings server, before /embeddings'),
  CB_EMBEDDING_API_KEY: secret.optional().describe('Key for the embeddings server'),
  CB_EMBEDDING_MODEL: modelName
    .optional()
    .describe('Model that is asked for; another one embeds everything anew in the background'),
  CB_EMBEDDING_DIM: count(512, 8192)
    .optional()
    .describe('Length of its vectors, for models that offer several'),
  CB_EMBEDDING_TIMEOUT: seconds(25).describe('Limit of one request for embeddings'),
  CB_RERANK_ENABLED: flag(false).describe('Have the best results ordered anew by a reranker'),
  CB_RERANK_URL: httpUrl
    .default('http://127.0.0.1:8080/v1')
    .describe('Base address of the reranker, before /rerank'),
  CB_RERANK_API_KEY: secret.optional().describe('Key for the reranker'),
  CB_RERANK_MODEL: modelName.optional().describe('Model that it is asked for'),
  CB_RERANK_POOL: count(20, 200).describe('How many of the best it orders'),
} as const satisfies Record<string, z.ZodType>
