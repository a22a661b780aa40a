import { createContext, Script } from 'node:vm'
import type { ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
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
 * after 0.5 s, both as a problem of what was given. Costs 15-50 ms: keep what it returns.
 */
export function compileSchema(schema: Readonly<Record<string, unknown>>): CompiledSchema {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    ownProperties: true,
    logger: false,
  })
  formats.default(ajv)
  const compiled = bounded(() => compile(ajv, schema), COMPILE_MS)
  if (!compiled.ok) return { ok: false, problems: [compiled.problem] }
  const made = compiled.value
  if (Array.isArray(made)) return { ok: false, problems: made }
  const validate = boundedValidate(made)
  const [stuck] = validate({}).filter(({ message }) => message === ENDLESS)
  return stuck ? { ok: false, problems: [stuck] } : { ok: true, validate }
}

/** The same, but keeps what the last `maxSchemas` different schemas were made into. */
export function createSchemaCache(maxSchemas: number): CompileSchema {
  const kept = new Map<string, CompiledSchema>()
  return (schema) => {
    const key = sha256(JSON.stringify(schema))
    const compiled = kept.get(key) ?? compileSchema(schema)
    kept.delete(key)
    kept.set(key, compiled)
    const [oldest] = kept.size > maxSchemas ? kept.keys() : []
    if (oldest !== undefined) kept.delete(oldest)
    return compiled
  }
}

function compile(
  ajv: Ajv2020,
  schema: Readonly<Record<string, unknown>>,
): ValidateFunction | SchemaProblem[] {
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
    const checked = bounded(() => (validate(value) ? [] : problemsOf(validate.errors)), VALIDATE_MS)
    return checked.ok ? checked.value : [checked.problem]
  }
}

function problemsOf(errors: readonly ErrorObject[] | null | undefined): SchemaProblem[] {
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

type Bounded<T> = { ok: true; value: T } | { ok: false; problem: SchemaProblem }

/** Runs `work` to its end or for `timeoutMs`; V8 stops even a regular expression that backtracks. */
function bounded<T>(work: () => T, timeoutMs: number): Bounded<T> {
  const context = createContext({ work })
  try {
    return {
      ok: true,
      value: new Script('work()').runInContext(context, { timeout: timeoutMs }) as T,
    }
  } catch (error) {
    const { name, code } = error as { name?: string; code?: string }
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return problem(SLOW)
    if (name === 'RangeError') return problem(ENDLESS)
    throw error
  }
}

function problem(message: string): { ok: false; problem: SchemaProblem } {
  return { ok: false, problem: { path: [], message } }
}
