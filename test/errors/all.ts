import type { ErrorCode } from '#lib/errors.ts'
import { ofContent } from './of-content.ts'
import { ofIdentity } from './of-identity.ts'
import { ofMemory } from './of-memory.ts'
import { ofProjects } from './of-projects.ts'
import { ofRequests } from './of-requests.ts'
import { ofRuns } from './of-runs.ts'
import { ofSkills } from './of-skills.ts'
import { ofWork } from './of-work.ts'
import type { ErrorCase } from './scene.ts'

/** For each code a request that is realistically answered with it: a new code needs a case. */
export const ERROR_CASES: Readonly<Record<ErrorCode, ErrorCase>> = {
  ...ofRequests,
  ...ofIdentity,
  ...ofWork,
  ...ofRuns,
  ...ofContent,
  ...ofProjects,
  ...ofSkills,
  ...ofMemory,
}
