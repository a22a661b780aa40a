import { eraseObservation } from '#contract/erasures.ts'
import { ERASURE_MODES } from '#contract/memory-deletion.ts'
import { getObservation, recordObservation } from '#contract/observations.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, jsonObject, oneOf } from './option-values.ts'
import { readInput } from './read-input.ts'
import { chosenWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'

const MAX_CONTENT_BYTES = 1 << 20

const observe = command({
  name: 'observe',
  args: '<text...>',
  summary: 'Record a finding or decision, so that later sessions recall it',
  details: [
    'The text is the words given, or standard input for "-". It belongs to the task or run named, else',
    'to the workspace named or that of this repository, else to the whole tenant.',
  ],
  options: {
    kind: { value: 'kind', summary: 'decision, constraint, finding, note, summary, ... (note)' },
    task: { value: 'task', summary: 'Task it is about' },
    run: { value: 'id', summary: 'Run it was found in' },
    workspace: WORKSPACE_OPTION,
    private: { summary: 'Keep it to its author' },
    source: { value: 'name', summary: 'Where it comes from; needed with --dedup-key' },
    'dedup-key': {
      value: 'key',
      summary: 'A repeat with the same source and key records nothing new',
    },
    supersedes: { value: 'id', summary: 'Observation that this one replaces' },
    'observed-at': { value: 'time', summary: 'When it was seen, as 2026-05-31T12:00:00Z (now)' },
    data: { value: 'json', summary: 'Further fields, a JSON object' },
  },
  async run(cli, { positionals, values }) {
    const { kind = 'note', task, run, source, supersedes } = values
    const data = jsonObject(values.data, '--data')
    const recorded = await cli.call(recordObservation, {
      body: {
        kind,
        content: await contentOf(cli, positionals),
        ...given({
          task,
          runId: run,
          workspaceId: await workspaceOf(cli, values),
          source,
          dedupKey: values['dedup-key'],
          supersedes,
          observedAt: values['observed-at'],
          data: values.private ? { ...data, visibility: 'private' } : data,
        }),
      },
    })
    const { screen } = cli
    screen.result(recorded, () => {
      const how = recorded.deduplicated ? 'Already recorded' : 'Recorded'
      screen.line(`${how} ${recorded.kind} ${recorded.id}`)
    })
    if (recorded.contentDiffers) {
      screen.warn('warning: the earlier record under this key says something else; it was kept')
    }
  },
})

const get = command({
  name: 'observation get',
  args: '<observation>',
  summary: 'Show an observation',
  async run({ call, screen }, { positionals: [id = ''] }) {
    const observation = await call(getObservation, { params: { id } })
    screen.result(observation, () => {
      screen.heading(`${observation.kind} ${observation.id}`)
      screen.fields([
        ['author', observation.authorId],
        ['observed', observation.observedAt],
        ['visibility', observation.visibility],
        ['task', observation.taskId],
        ['run', observation.runId],
        ['workspace', observation.workspaceId],
        ['source', observation.source],
        ['supersedes', observation.supersedes],
      ])
      screen.line('')
      screen.block(observation.content ?? '(erased)')
    })
  },
})

const erase = command({
  name: 'observation erase',
  args: '<observation>',
  summary: 'Erase what an observation said, here and in memory',
  details: [
    'Its author may, and whoever holds operations.manage. Nothing brings it back, a rebuild of memory neither.',
  ],
  options: {
    mode: {
      value: 'mode',
      summary: 'redact keeps that there was something, purge does not (redact)',
    },
  },
  async run({ call, screen }, { positionals: [id = ''], values }) {
    const mode = oneOf(values.mode, ERASURE_MODES, '--mode') ?? 'redact'
    const erased = await call(eraseObservation, { params: { id }, query: { mode } })
    screen.result(erased, () => {
      screen.line(`Erased observation ${erased.id} (${erased.mode})`)
      const removed = Object.entries(erased.receipt?.removed ?? {}).filter(([, count]) => count > 0)
      for (const [name, count] of removed) screen.line(`  ${name.replaceAll('_', ' ')}: ${count}`)
    })
    if (erased.memoryStatus === 'pending') {
      screen.warn('warning: memory has not confirmed it yet; it is told again until it does')
    }
  },
})

async function contentOf({ io }: Cli, words: readonly string[]): Promise<string> {
  const text =
    words.length === 1 && words[0] === '-'
      ? await readInput(io, MAX_CONTENT_BYTES)
      : words.join(' ')
  if (text.trim() === '') throw new CliError('There is nothing to record: the text is empty')
  return text
}

/** A task or run already says where it belongs, unless a workspace is named too. */
async function workspaceOf(
  cli: Cli,
  { task, run, workspace }: { task?: string; run?: string; workspace?: string },
): Promise<string | undefined> {
  const isPlaced = task !== undefined || run !== undefined
  if (isPlaced && workspace === undefined) return undefined
  return await chosenWorkspace(cli, workspace)
}

export const observeCommands = [observe, get, erase]
