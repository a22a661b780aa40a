import { approvalCommands } from './approval-commands.ts'
import { artifactCommands } from './artifact-commands.ts'
import { budgetCommands } from './budget-commands.ts'
import { claimCommands } from './claim-commands.ts'
import type { Command } from './command.ts'
import { connectCommands } from './connect-commands.ts'
import { contextCommands } from './context-commands.ts'
import { deployCommands } from './deploy-commands.ts'
import { delegationCommands } from './delegation-commands.ts'
import { eventsCommands } from './events-commands.ts'
import { goalCommands } from './goal-commands.ts'
import { keyCommands } from './key-commands.ts'
import { loginCommands } from './login-commands.ts'
import { observeCommands } from './observe-commands.ts'
import { opsCommands } from './ops-commands.ts'
import { principalCommands } from './principal-commands.ts'
import { projectCommands } from './project-commands.ts'
import { roleCommands } from './role-commands.ts'
import { runCommands } from './run-commands.ts'
import { runControlCommands } from './run-control-commands.ts'
import { sessionCommands } from './session-commands.ts'
import { setupCommands } from './setup-commands.ts'
import { skillCommands } from './skill-commands.ts'
import { taskCommands } from './task-commands.ts'
import { taskDetailCommands } from './task-detail-commands.ts'
import { toolCommands } from './tool-commands.ts'
import { webhookCommands } from './webhook-commands.ts'
import { usageCommands } from './usage-commands.ts'
import { workspaceCommands } from './workspace-commands.ts'

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...setupCommands,
  ...loginCommands,
  ...taskCommands,
  ...taskDetailCommands,
  ...claimCommands,
  ...sessionCommands,
  ...runCommands,
  ...runControlCommands,
  ...artifactCommands,
  ...approvalCommands,
  ...toolCommands,
  ...observeCommands,
  ...contextCommands,
  ...eventsCommands,
  ...webhookCommands,
  ...connectCommands,
  ...workspaceCommands,
  ...projectCommands,
  ...goalCommands,
  ...principalCommands,
  ...keyCommands,
  ...roleCommands,
  ...delegationCommands,
  ...usageCommands,
  ...budgetCommands,
  ...skillCommands,
  ...opsCommands,
  ...deployCommands,
]
