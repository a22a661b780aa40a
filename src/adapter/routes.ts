import type { Hono } from 'hono'
import * as contract from '#contract/operations.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { requireAnyPermission } from '#org/permission.ts'
import { rebuildAdapter } from './rebuild-adapter.ts'
import { redriveAdapter } from './redrive-adapter.ts'
import { readAdapterStatus } from './status.ts'

export function adapterRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, contract.getAdapterStatus, async (sql, ctx) => {
    requireAnyPermission(ctx, ['operations.read', 'operations.manage'])
    return await readAdapterStatus(sql, ctx)
  })

  bind(app, deps, contract.redriveAdapter, async (sql, ctx, { params, body }) => {
    await redriveAdapter(sql, ctx, { ...params, ...body })
    return await readAdapterStatus(sql, ctx)
  })

  bind(app, deps, contract.rebuildAdapter, async (sql, ctx, { params, body }) => {
    await rebuildAdapter(sql, ctx, { ...params, ...body })
    return await readAdapterStatus(sql, ctx)
  })
}
