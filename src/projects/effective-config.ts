import type {
  ConfigLayer,
  ConfigProvenance,
  EffectiveConfig,
  GivenGovernance,
  ProjectConfig,
  ProjectSettings,
} from '#contract/project-config.ts'
import { complete, differing, stricter, UNRESTRICTED } from './governance.ts'

/** The layers that one project brings along. */
export interface ProjectLayers {
  projectId: string
  template: ProjectConfig
  /** The config revision in force; empty without one. */
  revision: ProjectConfig
  settings: ProjectSettings
}

export interface Effective {
  config: EffectiveConfig
  provenance: ConfigProvenance
}

type Layer = [ConfigLayer, ProjectConfig]

/**
 * What is in force for a project below `ancestor`, the effective configuration of the nearest project
 * above (undefined at the top). Of each key the last of template, ancestor, revision and profile wins,
 * as a whole; of `governance` each field is as strict as the strictest layer, so that a template weaker
 * than an ancestor counts for nothing. The layer of such a field is the last that made it stricter.
 */
export function effectiveConfig(ancestor: Effective | undefined, own: ProjectLayers): Effective {
  const layers: Layer[] = [
    ['template', own.template],
    ['ancestor', ancestor?.config ?? {}],
    ['revision', own.revision],
    ['profile', own.settings],
  ]
  const config: Record<string, unknown> = {}
  const provenance: ConfigProvenance = {}
  let governance = UNRESTRICTED
  for (const [layer, { governance: given, ...values }] of layers) {
    for (const [key, value] of Object.entries(values)) {
      config[key] = value
      provenance[key] = layer
    }
    const next = stricter(governance, complete(given ?? {}))
    for (const name of differing(governance, next)) provenance[`governance.${name}`] = layer
    governance = next
  }
  return { config: { ...config, governance }, provenance }
}

/** The same for the last of a line of projects, each nested in the one before. */
export function effectiveOfLine(line: readonly ProjectLayers[]): Effective | undefined {
  return line.reduce<Effective | undefined>(effectiveConfig, undefined)
}

/** The rules that a revision states by itself. */
export function ownGovernance({ revision }: Pick<ProjectLayers, 'revision'>): GivenGovernance {
  return revision.governance ?? {}
}
