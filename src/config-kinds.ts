import { z } from 'zod'

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

export const someFlag = z
  .enum(['true', 'false', '1', '0', 'on', 'off'])
  .transform((value) => ['true', '1', 'on'].includes(value))
export const flag = (fallback: boolean) => someFlag.default(fallback)

/** Words separated by commas; none when it is unset. */
export const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  )
export const port = (fallback: number) =>
  z.coerce.number().int().min(0).max(65_535).default(fallback)

export const count = (fallback: number, max = 1_000_000) =>
  z.coerce.number().int().min(1).max(max).default(fallback)

export const someSeconds = z.coerce.number().positive().max(86_400)

export const seconds = (fallback: number) => someSeconds.default(fallback)

export const secret = z.string().min(16).max(512)

/** Words divided by spaces or commas. */
export const words = z
  .string()
  .regex(/^[^\s,]+([\s,]+[^\s,]+)*$/, 'must be words divided by spaces')
