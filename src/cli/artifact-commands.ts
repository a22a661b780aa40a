import { basename } from 'node:path'
import { createArtifact, getArtifact, listArtifacts } from '#contract/artifacts.ts'
import type { Artifact } from '#contract/artifacts.ts'
import { printContent, saveFile, sendFile } from './artifact-file.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { FENCE_OPTIONS, fenceOf } from './held-claim.ts'
import { given, jsonObject, required } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
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
    resume: { value: 'upload', summary: 'Upload of --file that was interrupted, to go on with' },
    ...FENCE_OPTIONS,
  },
  async run(cli, { values }) {
    const { file, uri, task, run, resume, name = file && basename(file) } = values
    const mediaType = values['media-type']
    const isPlaced = task !== undefined || run !== undefined
    const workspaceId =
      isPlaced && values.workspace === undefined
        ? undefined
        : await chosenWorkspace(cli, values.workspace)
    const place = {
      ...(isPlaced && (await fenceOf(cli, task ?? '', values))),
      ...given({ taskId: task, runId: run, workspaceId }),
    }
    const [type, title] = [required(values.type, '--type'), required(name, '--name')]
    const upload = given({ mediaType, uploadId: resume })
    const content = file === undefined ? {} : await sendFile(cli, file, { place, ...upload })
    const artifact = await cli.call(createArtifact, {
      body: {
        type,
        name: title,
        ...content,
        ...place,
        ...given({
          uri,
          mediaType,
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
    ...PAGE_OPTIONS,
  },
  async run({ call, screen }, { values: { task, run, type, all, limit, cursor } }) {
    const headsOnly = all ? undefined : ('true' as const)
    const query = given({ taskId: task, runId: run, type, headsOnly, limit, cursor })
    const page = await call(listArtifacts, { query })
    showPage(screen, page, {
      headings: ['ARTIFACT', 'TYPE', 'NAME', 'WHERE'],
      row: ({ id, type: kind, name, uri, content }) => [
        id,
        kind,
        name,
        uri ?? `${content?.sizeBytes ?? 0} bytes, ${content?.mediaType ?? ''}`,
      ],
      none: 'no artifacts',
    })
  },
})

const get = command({
  name: 'artifact get',
  args: '<artifact>',
  summary: 'Show a result, or write its bytes to a new file',
  details: [
    'The bytes are compared with their SHA-256 on the way; a broken connection goes on where it broke.',
  ],
  options: {
    output: { value: 'path', summary: 'New file for the bytes; - is standard output' },
  },
  async run(cli, { positionals: [id = ''], values: { output } }) {
    const { call, screen } = cli
    const artifact = await call(getArtifact, { params: { id } })
    const { content, uri } = artifact
    if (output === undefined) {
      screen.result(artifact, () => showArtifact(cli, artifact))
      return
    }
    if (content === null)
      throw new CliError(`Artifact ${id} is only a link: ${uri ?? 'to nothing'}`)
    if (output === '-') {
      await printContent(cli, { ...artifact, content })
      return
    }
    const file = await saveFile(cli, { ...artifact, content }, output)
    screen.result({ file, ...artifact }, () =>
      screen.line(`Wrote ${content.sizeBytes} bytes to ${file}`),
    )
  },
})

function showArtifact({ screen }: Cli, artifact: Artifact): void {
  const { id, type, name, uri, content, taskId, supersedesArtifactId } = artifact
  screen.fields([
    ['id', id],
    ['type', type],
    ['name', name],
    ['uri', uri],
    ['bytes', content?.sizeBytes ?? null],
    ['media type', content?.mediaType ?? null],
    ['sha256', content?.sha256 ?? null],
    ['task', taskId],
    ['replaces', supersedesArtifactId],
    ['replaced by', artifact.supersededByArtifactId],
    ['created', artifact.createdAt],
  ])
}

export const artifactCommands = [add, list, get]
