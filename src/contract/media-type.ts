import { z } from 'zod'

const NAME = String.raw`[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}`
const TOKEN = String.raw`[!#$%&'*+.^_\x60|~A-Za-z0-9-]+`
const QUOTED = String.raw`"(?:[\t !#-\[\]-~]|\\[\t -~])*"`
const PARAMETER = String.raw`[\t ]*;[\t ]*${TOKEN}=(?:${TOKEN}|${QUOTED})`

/**
 * What some bytes are, such as `text/markdown; charset=utf-8`. Source: RFC 6838, section 4.2 (names), RFC
 * 9110, section 8.3.1 (parameters; without the obsolete characters beyond ASCII).
 */
export const MediaType = z
  .string()
  .max(255)
  .regex(new RegExp(`^${NAME}/${NAME}(?:${PARAMETER})*$`), 'must be a media type')
