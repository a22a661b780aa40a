import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { COMMANDS } from './commands.ts'
import { command } from './command.ts'
import { commandHelp, overview } from './help.ts'
import { nearest } from './nearest.ts'
import { findCommand, parseCall, UsageError } from './parse-argv.ts'

const sample = command({
  name: 'thing make',
  args: '<name> [rest...]',
  summary: 'Make a thing',
  options: {
    size: { value: 'count', summary: 'How large' },
    tag: { value: 'word', repeat: true, summary: 'What it is called too' },
    loud: { summary: 'Say so' },
  },
  run: async () => undefined,
})

const parse = (...argv: string[]) => {
  const { command: found, rest } = findCommand([sample], argv)
  assert.equal(found, sample)
  return parseCall(sample, rest)
}
const refused = (...argv: string[]) => {
  try {
    parse(...argv)
  } catch (error) {
    assert.ok(error instanceof UsageError)
    return error.message
  }
  return assert.fail('It was accepted')
}

describe('a command line', () => {
  it('gives options and words, the options of every command also in front', () => {
    const call = parse(
      '--server',
      'http://h',
      '--json',
      'thing',
      'make',
      'a',
      '--size=3',
      'b',
      '-h',
    )
    assert.deepEqual(call.positionals, ['a', 'b'])
    assert.deepEqual({ ...call.values }, { server: 'http://h', json: true, size: '3', help: true })
    assert.equal(call.global.server, 'http://h')
  })

  it('collects an option that may be repeated and takes words behind -- as they are', () => {
    const call = parse('thing', 'make', '--tag', 'x', '--tag', 'y', '--', '--loud')
    assert.deepEqual(call.values['tag'], ['x', 'y'])
    assert.deepEqual(call.positionals, ['--loud'])
  })

  it('refuses what it does not know and suggests what was meant', () => {
    assert.equal(
      refused('thing', 'make', 'a', '--sizee', '3'),
      'Unknown option --sizee; did you mean --size?',
    )
    assert.equal(refused('thing', 'make', 'a', '--constructor'), 'Unknown option --constructor')
  })

  it('refuses values that are absent, too many, or an option by accident', () => {
    assert.equal(refused('thing', 'make', 'a', '--size'), '--size needs a value')
    assert.match(
      refused('thing', 'make', 'a', '--size', '--loud'),
      /^--size needs a value; if it is/,
    )
    assert.equal(
      refused('thing', 'make', 'a', '--size', '1', '--size', '2'),
      '--size is given twice',
    )
    assert.equal(refused('thing', 'make', 'a', '--loud=yes'), '--loud takes no value')
    assert.equal(refused('thing', 'make'), '<name> is missing')
    assert.equal(refused('thing', 'make', ''), 'An argument is empty')
  })

  it('refuses words that the command has no place for', () => {
    const whoami = COMMANDS.find(({ name }) => name === 'whoami')
    assert.ok(whoami)
    assert.throws(() => parseCall(whoami, ['me']), /Unexpected argument "me"/)
  })
})

describe('the nearest name', () => {
  it('forgives a slip, and guesses nothing else', () => {
    const names = ['task list', 'task claim', 'events tail']
    assert.equal(nearest('taks list', names), 'task list')
    assert.equal(nearest('task clam', names), 'task claim')
    assert.equal(nearest('deploy', names), undefined)
  })
})

describe('help', () => {
  it('names every command in the overview and every option in its own help', () => {
    const all = overview(COMMANDS)
    for (const each of COMMANDS) {
      assert.ok(all.includes(`  ${each.name}`), each.name)
      const help = commandHelp(each)
      for (const option of [...Object.keys(each.options), 'server', 'json', 'help']) {
        assert.ok(help.includes(`--${option}`), `${each.name} --${option}`)
      }
    }
  })

  it('calls no two commands the same, and hides no option that every command has', () => {
    assert.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length)
    for (const { name, options } of COMMANDS) {
      assert.deepEqual(
        Object.keys(options).filter((option) => ['server', 'json', 'help'].includes(option)),
        [],
        name,
      )
    }
  })
})
