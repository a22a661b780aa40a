import { AppError } from './errors.ts'

/** A refusal of one field of a request's body, for rules that need more than the body. */
export function badField(name: string, message: string): AppError {
  return new AppError('invalid_request', `Cannot read the request: body.${name} ${message}`, {
    details: { errors: [{ loc: `body.${name}`, message }] },
  })
}
