import type { ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { bounded } from './bounded.ts'
import { sha256 } from './id.ts'

/** What is wrong with a value, without the value. */
export interface SchemaProblem {
  /** Where: keys and indexes from the root, empty for the value as a whole. */
  path: string[]
  message: string
}

/** Answers what is wrong with a value; nothing when it fits. */
export type Validate = (value: unknown) => SchemaProblem[]

/** A schema that can be used, or why it cannot. */
export type CompiledSchema =
  | { ok: true; validate: Validate }
  | { ok: false; problems: SchemaProblem[] }

export type CompileSchema = (schema: Readonly<Record<string, unknown>>) => CompiledSchema

const MAX_PROBLEMS = 20
const COMPILE_MS = 2000
const VALIDATE_MS = 500

/**
 * Makes a check of a JSON Schema, draft 2020-12, that somebody else wrote. `format` is checked, unknown
 * keywords are notes, references lead nowhere outside. Schemas can be made to take for ever (patterns
 * that backtrack, references that double or never end), so compiling stops after 2 s and one check
 * after 0.5 s of computing, both as a problem of what was given. Costs 15-50 ms: keep what it returns.
 */
export function compileSchema(schema: Readonly<Record<string, unknown>>): CompiledSchema {
  const compiled = within(() => compile(schema), COMPILE_MS)
  if (!compiled.ok) return { ok: false, problems: [compiled.problem] }
  const made = compiled.value
  if (Array.isArray(made)) return { ok: false, problems: made }
  const validate = boundedValidate(made)
  const [stuck] = validate({}).filter(({ message }) => message === ENDLESS)
  return stuck ? { ok: false, problems: [stuck] } : { ok: true, validate }
}

/**
 * The same, but keeps what the last `maxSchemas` different schemas were made into. That one took too long is not
 * kept: the machine may have been at fault.
 */
export function createSchemaCache(maxSchemas: number): CompileSchema {
  const kept = new Map<string, CompiledSchema>()
  return (schema) => {
    const key = sha256(JSON.stringify(schema))
    const compiled = kept.get(key) ?? compileSchema(schema)
    kept.delete(key)
    if (compiled.ok || !compiled.problems.some(({ message }) => message === SLOW)) {
      kept.set(key, compiled)
    }
    const [oldest] = kept.size > maxSchemas ? kept.keys() : []
    if (oldest !== undefined) kept.delete(oldest)
    return compiled
  }
}

/** With a compiler of its own, so that one that was stopped half-way leaves nothing behind. */
function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction | SchemaProblem[] {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    ownProperties: true,
    logger: false,
  })
  formats.default(ajv)
  try {
    if (ajv.validateSchema(schema) !== true) return problemsOf(ajv.errors)
    return ajv.compile(schema)
  } catch (error) {
    if (error instanceof RangeError) throw error
    return [{ path: [], message: error instanceof Error ? error.message : 'cannot be used' }]
  }
}

function boundedValidate(validate: ValidateFunction): Validate {
  return (value) => {
    const checked = within(() => (validate(value) ? [] : problemsOf(validate.errors)), VALIDATE_MS)
    return checked.ok ? checked.value : [checked.problem]
  }
}

/** What ajv complains about, at most 20 problems, without values. */
export function problemsOf(errors: readonly ErrorObject[] | null | undefined): SchemaProblem[] {
  return (errors ?? []).slice(0, MAX_PROBLEMS).map((error) => {
    const { missingProperty, additionalProperty, unevaluatedProperty } = error.params as Record<
      string,
      unknown
    >
    const path = error.instancePath.split('/').slice(1).map(unescapePointer)
    if (typeof missingProperty === 'string') {
      return { path: [...path, missingProperty], message: 'is needed' }
    }
    const surplus = additionalProperty ?? unevaluatedProperty
    if (typeof surplus === 'string') return { path: [...path, surplus], message: 'is not known' }
    return { path, message: error.message ?? 'does not fit' }
  })
}

/** Source: RFC 6901, section 4. */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

const SLOW = 'takes too long to check'
const ENDLESS = 'refers to itself without end'

/** The same within a time of its own; what takes longer is a problem of what was given. */
function within<T>(
  work: () => T,
  cpuMs: number,
): { ok: true; value: T } | { ok: false; problem: SchemaProblem } {
  const done = bounded(work, cpuMs)
  if (done.ok) return done
  return { ok: false, problem: { path: [], message: done.why === 'slow' ? SLOW : ENDLESS } }
}
