import { readFile, writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { send } from '#client/client.ts'
import {
  createArtifact,
  getArtifact,
  getArtifactContent,
  listArtifacts,
} from '#contract/artifacts.ts'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { FENCE_OPTIONS, fenceOf } from './held-claim.ts'
import { given, jsonObject, required } from './option-values.ts'
import { chosenWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'

const add = command({
  name: 'artifact add',
  summary: 'Publish a file or a link as a result',
  details: [
    'With --task it is published under the claim that "task claim" took here, if there is one.',
  ],
  options: {
    type: { value: 'type', summary: 'What it is: report, patch, log, ...' },
    name: { value: 'name', summary: 'What it is called (the name of --file)' },
    file: { value: 'path', summary: 'File whose bytes are kept' },
    uri: { value: 'uri', summary: 'Where it is, instead of --file' },
    'media-type': { value: 'type', summary: 'What the bytes are, such as text/markdown' },
    task: { value: 'task', summary: 'Task it belongs to' },
    run: { value: 'id', summary: 'Run it belongs to' },
    workspace: WORKSPACE_OPTION,
    supersedes: { value: 'id', summary: 'Revision that this one replaces' },
    metadata: { value: 'json', summary: 'Further fields, a JSON object' },
    ...FENCE_OPTIONS,
  },
  async run(cli, { values }) {
    const { file, uri, task, run, name = file && basename(file) } = values
    const isPlaced = task !== undefined || run !== undefined
    const workspaceId =
      isPlaced && values.workspace === undefined
        ? undefined
        : await chosenWorkspace(cli, values.workspace)
    const artifact = await cli.call(createArtifact, {
      body: {
        type: required(values.type, '--type'),
        name: required(name, '--name'),
        ...(file !== undefined && (await bytesOf(cli, file))),
        ...(task !== undefined && (await fenceOf(cli, task, values))),
        ...given({
          uri,
          mediaType: values['media-type'],
          taskId: task,
          runId: run,
          workspaceId,
          supersedesArtifactId: values.supersedes,
          metadata: jsonObject(values.metadata, '--metadata'),
        }),
      },
    })
    cli.screen.result(artifact, () => cli.screen.line(`Added ${artifact.type} ${artifact.id}`))
  },
})

const list = command({
  name: 'artifact list',
  summary: 'List results, newest first',
  options: {
    task: { value: 'task', summary: 'Only those of this task' },
    run: { value: 'id', summary: 'Only those of this run' },
    type: { value: 'type', summary: 'Only those of this type' },
    all: { summary: 'Also revisions that were replaced' },
  },
  async run({ call, screen }, { values: { task, run, type, all } }) {
    const headsOnly = all ? undefined : ('true' as const)
    const query = given({ taskId: task, runId: run, type, headsOnly })
    const page = await call(listArtifacts, { query })
    screen.result(page, () => {
      screen.table(
        ['ARTIFACT', 'TYPE', 'NAME', 'WHERE'],
        page.items.map(({ id, type: kind, name, uri, content }) => [
          id,
          kind,
          name,
          uri ?? `${content?.sizeBytes ?? 0} bytes, ${content?.mediaType ?? ''}`,
        ]),
        'no artifacts',
      )
    })
  },
})

const save = command({
  name: 'artifact save',
  args: '<artifact> <path>',
  summary: 'Write the bytes of a result to a new file',
  async run({ call, client, io, screen }, { positionals: [id = '', path = ''] }) {
    const artifact = await call(getArtifact, { params: { id } })
    if (artifact.content === null) {
      throw new CliError(`Artifact ${id} is only a link: ${artifact.uri ?? 'to nothing'}`)
    }
    const { signal } = io
    const response = await send(await client(), getArtifactContent, { params: { id }, signal })
    if (!response.ok) throw new CliError(`Cannot read artifact ${id}: status ${response.status}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    const file = resolve(io.cwd, path)
    await writeFile(file, bytes, { flag: 'wx' }).catch((cause: unknown) => {
      throw new CliError(`Cannot write ${file}: ${reason(cause)}`, { cause })
    })
    screen.result({ file, ...artifact }, () =>
      screen.line(`Wrote ${bytes.length} bytes to ${file}`),
    )
  },
})

/** Text as text, anything else as base64. */
async function bytesOf({ io }: Cli, path: string) {
  const file = resolve(io.cwd, path)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new CliError(`Cannot read ${file}: ${reason(cause)}`, { cause })
  })
  const text = bytes.toString('utf8')
  const isText = Buffer.from(text).equals(bytes) && !text.includes('\0')
  return isText
    ? { content: text, encoding: 'utf8' as const }
    : { content: bytes.toString('base64'), encoding: 'base64' as const }
}

export const artifactCommands = [add, list, save]
