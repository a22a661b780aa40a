/**
 * Why a request was refused. Part of the API: add codes, never rename or reuse one. A code belongs to
 * exactly one HTTP status, so the status map in `http/` is complete by type.
 */
export const ERROR_CODES = [
  'invalid_request',
  'invalid_if_match',
  'idempotency_key_required',
  'invalid_skill_inputs',
  'invalid_credentials',
  'permission_denied',
  'principal_not_active',
  'delegation_required',
  'claim_holder_mismatch',
  'session_owner_mismatch',
  'run_holder_mismatch',
  'bootstrap_disabled',
  'permission_escalation',
  'scope_not_granted',
  'child_grant_exceeded',
  'not_eligible',
  'tool_not_authorized',
  'skill_permission_denied',
  'skill_side_effect_not_authorized',
  'not_found',
  'tool_not_found',
  'task_already_claimed',
  'version_conflict',
  'stale_claim',
  'task_claimed',
  'session_expired',
  'session_not_active',
  'claim_expired',
  'claim_not_active',
  'claim_not_expired',
  'task_already_completed',
  'task_not_ready',
  'approval_required',
  'approval_already_decided',
  'relation_exists',
  'external_reference_conflict',
  'run_already_active',
  'run_not_active',
  'run_in_progress',
  'budget_exceeded',
  'upload_not_open',
  'upload_incomplete',
  'action_already_finished',
  'usage_sequence_reused',
  'stale_invocation_lease',
  'invocation_already_claimed',
  'invocation_not_due',
  'invocation_not_active',
  'control_message_settled',
  'control_message_out_of_order',
  'child_handle_revoked',
  'child_handle_expired',
  'workspace_slug_conflict',
  'workspace_type_exists',
  'role_exists',
  'capability_exists',
  'skill_exists',
  'last_admin_required',
  'iam_binding_exists',
  'project_exists',
  'snapshot_stale',
  'pack_version_conflict',
  'pack_name_conflict',
  'kind_conflict',
  'relation_conflict',
  'already_bootstrapped',
  'idempotency_key_reused',
  'idempotency_in_flight',
  'restore_detected',
  'retention_blocked_by_consumer',
  'request_too_large',
  'range_not_satisfiable',
  'invalid_limit',
  'invalid_cursor',
  'unsupported_cursor_version',
  'unsupported_protocol_version',
  'invalid_harness',
  'invalid_permissions',
  'invalid_delegation',
  'assignment_outside_role',
  'permissions_not_allowed_for_kind',
  'invalid_event_type_filter',
  'invalid_transition',
  'invalid_task_type',
  'invalid_skill',
  'invalid_skill_outputs',
  'dependency_cycle',
  'invalid_custom_fields',
  'invalid_artifact',
  'content_mismatch',
  'task_not_claimable',
  'child_grant_exceeds_parent',
  'workspace_archived',
  'workspace_has_active_children',
  'workspace_cycle',
  'governance_weakened',
  'governance_not_in_settings',
  'unknown_governance_field',
  'invalid_lifecycle',
  'project_archived',
  'invalid_workspace_parent',
  'cursor_must_not_advance',
  'cursor_below_journal_floor',
  'observation_invalid',
  'secret_refused',
  'invalid_context_request',
  'snapshot_invalid',
  'snapshot_empty',
  'workspace_not_root',
  'pack_invalid',
  'pack_not_found',
  'pack_version_required',
  'document_invalid',
  'upgrade_required',
  'if_match_required',
  'rate_limited',
  'internal_error',
  'content_damaged',
  'memory_unavailable',
  'memory_disabled',
  'memory_timeout',
  'iam_unavailable',
  'policy_unavailable',
  'content_unavailable',
  'not_ready',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * The one error we throw on purpose; anything else that reaches the edge is a bug and becomes a 500.
 * `details` is shown to the caller: no secrets, no other tenant's data. `cause` is only logged.
 * `retryAfterSeconds` becomes the `Retry-After` header.
 */
export class AppError extends Error {
  override name = 'AppError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: Record<string, unknown>
      cause?: unknown
      retryAfterSeconds?: number
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.details = options.details ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Narrows a nullable lookup: `found(await selectTask(sql, ctx, id), 'task', id)`. */
export function found<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) {
    throw new AppError('not_found', `Cannot find ${what} "${id}"`, { details: { what, id } })
  }
  return value
}
