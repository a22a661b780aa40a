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
