import type { Hono } from 'hono'
import * as contract from '#contract/operations.ts'
import { permits } from '#contract/permissions.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { AppError } from '#lib/errors.ts'
import { rebuildAdapter } from './rebuild-adapter.ts'
import { redriveAdapter } from './redrive-adapter.ts'
import { readAdapterStatus } from './status.ts'

export function adapterRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, contract.getAdapterStatus, async (sql, ctx) => {
    const { permissions } = ctx
    if (!permits(permissions, 'operations.read') && !permits(permissions, 'operations.manage')) {
      throw new AppError('permission_denied', 'Cannot read operations: the credential may not', {
        details: { required: 'operations.read' },
      })
    }
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
