/** Mechanism that every area may use. */
export const EVERY_AREA = ['events', 'jobs', 'contract', 'db', 'lib'] as const

/** What each folder of src may import, besides itself. A new folder is added here first. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  // Mechanism: knows no word of the domain.
  lib: [],
  contract: ['lib'],
  db: ['lib'],
  model: ['lib'],
  events: ['contract', 'db', 'lib'],
  jobs: ['db', 'lib'],
  http: ['contract', 'db', 'lib'],
  // Areas: know HTTP in routes.ts only. Memory and the others meet in contract and client alone.
  org: EVERY_AREA,
  access: ['org', ...EVERY_AREA],
  projects: ['org', ...EVERY_AREA],
  'task-types': ['org', ...EVERY_AREA],
  goals: ['org', ...EVERY_AREA],
  work: ['org', 'access', 'projects', 'task-types', 'goals', ...EVERY_AREA],
  relations: ['org', 'work', ...EVERY_AREA],
  runs: ['org', 'access', 'projects', 'task-types', 'work', ...EVERY_AREA],
  'run-control': ['org', 'access', 'projects', 'work', 'runs', ...EVERY_AREA],
  comments: ['org', 'work', 'runs', ...EVERY_AREA],
  artifacts: ['org', 'access', 'projects', 'work', 'runs', ...EVERY_AREA],
  references: ['org', 'work', 'artifacts', ...EVERY_AREA],
  skills: ['org', 'access', 'work', 'runs', 'artifacts', ...EVERY_AREA],
  accounting: ['org', 'access', 'work', 'runs', 'artifacts', ...EVERY_AREA],
  webhooks: ['org', ...EVERY_AREA],
  context: [
    'org',
    'access',
    'projects',
    'work',
    'runs',
    'run-control',
    'artifacts',
    'skills',
    'client',
    ...EVERY_AREA,
  ],
  journal: ['org', 'context', ...EVERY_AREA],
  adapter: ['org', 'client', ...EVERY_AREA],
  levels: ['org', 'work', 'runs', 'artifacts', 'skills', ...EVERY_AREA],
  memory: ['model', ...EVERY_AREA],
  // Edges: never touch a database.
  client: ['contract', 'lib'],
  prompt: ['contract', 'lib'],
  connectors: ['client', 'contract', 'lib'],
  cli: ['client', 'connectors', 'prompt', 'contract', 'lib'],
  mcp: ['client', 'prompt', 'contract', 'lib'],
  runner: ['client', 'prompt', 'model', 'contract', 'lib'],
}
